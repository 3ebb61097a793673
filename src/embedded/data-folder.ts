// The data folder and its lock, so that two services never share one.

import { constants } from "node:fs";
import { access, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { OperatorError } from "../base/operator-error.ts";

export type Holder = { readonly pid: number; readonly url?: string };

export type DataFolder = {
  /** Records the holder of the lock, for messages of other processes and for the command line. */
  announce(holder: Holder): Promise<void>;
  release(): Promise<void>;
};

const ofAnotherUser = "cannot be written by this user: start waggle as its owner";
const notFolder = "is a file or lies in one: move that away";

/** Faults of a folder with the way out, by the system's error code. */
const folderFaults: Readonly<Record<string, string>> = {
  EACCES: ofAnotherUser,
  EPERM: ofAnotherUser,
  EEXIST: notFolder,
  ENOTDIR: notFolder,
  EROFS: "is on a disk that is read-only: mount it for writing",
  ENOSPC: "is on a disk that is full: make room",
};

function toFolderError(folder: string, cause: unknown): OperatorError {
  const { code = "", message } = cause as NodeJS.ErrnoException;
  const fault = folderFaults[code] ?? `cannot be used: ${message}`;
  return new OperatorError(`${folder} ${fault}, or choose another folder with --data`, { cause });
}

/** Creates a folder that is closed to other users, unless it is there. */
async function makeOwnFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
    if (!isThere || !(await stat(folder)).isDirectory()) throw error;
  }
}

/**
 * Creates the folder if necessary and takes its lock; returns undefined if another process has it.
 * The operating system releases the lock when its holder ends, even by a crash.
 */
export async function lockDataFolder(folder: string): Promise<DataFolder | undefined> {
  try {
    // Only the folder itself is closed to other users, not newly created folders above it.
    await mkdir(dirname(folder), { recursive: true });
    await makeOwnFolder(folder);
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw toFolderError(folder, cause);
  }
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

/** Returns the recorded holder of the lock; only meaningful while the lock is taken. */
export async function findHolder(folder: string): Promise<Holder | undefined> {
  return readJson<Holder>(join(folder, "running.json"));
}

/** Returns a JSON file's value; undefined if the file does not exist. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new OperatorError(`${path} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/**
 * Writes a JSON file that only the folder's owner can read. Atomic, even through a power cut. Fails
 * with an OperatorError that names the folder and its fault, such as a full disk.
 */
export async function writeJson(path: string, value: unknown): Promise<void> {
  try {
    await replaceFile(path, `${JSON.stringify(value, null, 2)}\n`);
  } catch (cause) {
    throw toFolderError(dirname(path), cause);
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  const unfinished = `${path}.new`;
  await rm(unfinished, { force: true });
  const file = await open(unfinished, "wx", 0o600);
  try {
    // Root may have started the service in another user's folder; that user starts it next.
    const { uid, gid } = await stat(dirname(path));
    if (process.getuid?.() === 0) await file.chown(uid, gid);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
}

const sqliteBusy = 5;

/**
 * Node has no API for file locks, but its SQLite takes one: an open exclusive transaction on an
 * empty database. Unlike a pid file or a socket, it leaves no remains and has no race.
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
