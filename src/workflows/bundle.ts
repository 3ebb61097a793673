// The code of all workflows as one script, which Temporal's worker loads.

import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { startBuild } from "../base/build.ts";

const root = resolve(import.meta.dirname, "../..");

export const bundlePath = join(root, "dist/workflows.js");

/** Returns the script. Builds it if it does not exist or is older than its sources. */
export async function readBundle(): Promise<string> {
  const modules = readdirSync(join(root, "src")).filter((name) => name !== "web");
  const build = startBuild({
    what: "the workflows",
    script: new URL("build-bundle.ts", import.meta.url),
    target: bundlePath,
    sources: ["package-lock.json", ...modules.map((name) => `src/${name}`)].map((path) =>
      join(root, path),
    ),
  });
  await build.done;
  return readFile(bundlePath, "utf8");
}
