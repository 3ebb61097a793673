// Where what is fetched or made once is kept for every start of the same user. Called by
// temporal-binary.ts and commands/sandbox.ts.

import { homedir } from "node:os";
import { join } from "node:path";

/** The folder may not be there, and may not be writable. */
export function userCacheFolder(): string {
  const caches = process.platform === "darwin" ? "Library/Caches" : ".cache";
  return join(homedir(), caches, "waggle");
}
