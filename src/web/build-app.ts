// Builds the web app: `npm run build`, and the child process of `build.ts`. Writes into a folder
// beside the real one and swaps them at the end, so that no reader meets half of a build.

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";
import { build } from "vite";

const root = resolve(import.meta.dirname, "../..");
const target = join(root, "dist/web");
const work = `${target}-${process.pid}`;

/** Compressed forms of a file by ending; the highest level, since each file is written once. */
const forms = {
  ".br": (bytes: Buffer) => brotliCompressSync(bytes),
  ".gz": (bytes: Buffer) => gzipSync(bytes, { level: 9 }),
  ".zst": (bytes: Buffer) =>
    zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 19 } }),
};

// The service that waits for this build has ended.
process.on("disconnect", () => {
  rmSync(work, { recursive: true, force: true });
  process.exit(1);
});

try {
  await build({
    configFile: join(import.meta.dirname, "vite.config.ts"),
    logLevel: process.connected ? "error" : "info",
    build: { outDir: work },
  });
  compress(work);
  swap();
} finally {
  rmSync(work, { recursive: true, force: true });
}
if (process.connected) process.disconnect();
process.exit(0);

function compress(folder: string): void {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  for (const file of files.filter((entry) => entry.isFile())) {
    const path = join(file.parentPath, file.name);
    const bytes = readFileSync(path);
    for (const [ending, form] of Object.entries(forms)) writeFileSync(path + ending, form(bytes));
  }
}

/**
 * Puts the new build in the place of the old one; where two builds end together, the last one
 * stays.
 */
function swap(): void {
  const old = `${work}-old`;
  mkdirSync(join(root, "dist"), { recursive: true });
  for (let tries = 1; ; tries += 1) {
    try {
      renameSync(target, old);
    } catch {
      // There is no earlier build.
    }
    try {
      renameSync(work, target);
      break;
    } catch (error) {
      // Another build came between the two steps.
      if (tries === 10) throw error;
    }
  }
  rmSync(old, { recursive: true, force: true });
}
