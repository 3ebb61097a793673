// The data folder and its lock, so that two services never share one. Called by the commands.

import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export type Holder = { readonly pid: number; readonly url?: string };

export type DataFolder = {
  /** Says who holds the lock, for others' messages and for the command line. */
  announce(holder: Holder): Promise<void>;
  release(): Promise<void>;
};

/**
 * Makes the folder if need be and takes its lock; undefined when another process has it. The
 * operating system frees the lock when its holder ends, however it ends.
 */
export async function lockDataFolder(folder: string): Promise<DataFolder | undefined> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lock = takeLock(join(folder, "lock"));
  if (!lock) return undefined;
  const holderPath = join(folder, "running.json");
  await rm(holderPath, { force: true });
  return {
    announce: (holder) => writeJson(holderPath, holder),
    async release() {
      await rm(holderPath, { force: true });
      lock.close();
    },
  };
}

/** Returns who holds the lock, as far as it has said so; read it only when the lock is taken. */
export async function findHolder(folder: string): Promise<Holder | undefined> {
  return readJson<Holder>(join(folder, "running.json"));
}

/** Returns a JSON file's value; undefined when there is none. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Error(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Writes a JSON file that only its owner can read, whole or not at all, through a power cut too. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  const unfinished = `${path}.new`;
  await rm(unfinished, { force: true });
  const file = await open(unfinished, "wx", 0o600);
  try {
    await file.writeFile(`${JSON.stringify(value, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
}

const sqliteBusy = 5;

/**
 * Node has no call for file locks, but its SQLite takes one: an open exclusive transaction on an
 * empty database. Unlike a pid file or a socket it cannot be left behind or raced for.
 */
function takeLock(path: string): DatabaseSync | undefined {
  const lock = new DatabaseSync(path);
  try {
    lock.exec("pragma journal_mode = memory; begin exclusive");
    return lock;
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode === sqliteBusy) return undefined;
    throw error;
  }
}
