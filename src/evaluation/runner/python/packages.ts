// The packages that evaluators may import in addition to Python's own: wheels that are stored here
// and never fetched. Source: docs/sandbox.md.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

type LockedPackage = { readonly file: string; readonly sha256: string };

/** Returns the wheels' paths, in the lock's order. Throws if a file differs from the lock. */
export async function listPackages(folder: string): Promise<readonly string[]> {
  const text = await readFile(join(folder, "lock.json"), "utf8");
  const { packages } = JSON.parse(text) as { readonly packages: readonly LockedPackage[] };
  return Promise.all(packages.map((locked) => checkPackage(folder, locked)));
}

async function checkPackage(folder: string, { file, sha256 }: LockedPackage): Promise<string> {
  const path = join(folder, file);
  const actual = createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
  if (actual !== sha256) throw new Error(`${file} is not the package that lock.json names`);
  return path;
}
