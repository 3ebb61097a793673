// Account for Postgres when waggle runs as root, since Postgres refuses root; and the files that
// the account can reach.

import { readFile, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { OperatorError } from "./operator-error.ts";

export type Account = { readonly uid: number; readonly gid: number };

/**
 * Returns the account that runs a cluster. Without root: undefined, the current user. With root:
 * the cluster's owner, else `postgres`, else `nobody`. initdb needs an account in /etc/passwd.
 */
export async function findAccount(clusterFolder: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const cluster = await stat(clusterFolder).catch(() => undefined);
  if (cluster && cluster.uid !== 0) return { uid: cluster.uid, gid: cluster.gid };
  const passwd = await readFile("/etc/passwd", "utf8");
  for (const name of ["postgres", "nobody"]) {
    const fields = passwd
      .split("\n")
      .find((line) => line.startsWith(`${name}:`))
      ?.split(":");
    // macOS: the account `nobody` has the id -2, which is 2^32 - 2 without a sign.
    if (fields) return { uid: Number(fields[2]) >>> 0, gid: Number(fields[3]) >>> 0 };
  }
  throw new OperatorError(
    "Postgres does not run as root and /etc/passwd has neither postgres nor nobody: " +
      "start waggle as another user, or set DATABASE_URL",
  );
}

/**
 * Returns whether an account can reach a path: it may pass through every folder above, and the path
 * itself grants `bits` (by default read and execute).
 */
export async function isReachable(path: string, account: Account, bits = 0o5): Promise<boolean> {
  if (!(await isPermitted(path, account, bits))) return false;
  let folder = dirname(resolve(path));
  for (;;) {
    if (!(await isPermitted(folder, account, 0o1))) return false;
    const above = dirname(folder);
    if (above === folder) return true;
    folder = above;
  }
}

async function isPermitted(path: string, account: Account, bits: number): Promise<boolean> {
  const { uid, gid, mode } = await stat(path);
  const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0;
  return ((mode >> shift) & bits) === bits;
}
