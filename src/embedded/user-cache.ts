// The user's cache folder, for files that are downloaded or made once and kept for later starts.

import { homedir } from "node:os";
import { join } from "node:path";

/** Returns the path of the folder, which may be missing or not writable. */
export function userCacheFolder(): string {
  const caches = process.platform === "darwin" ? "Library/Caches" : ".cache";
  return join(homedir(), caches, "waggle");
}
