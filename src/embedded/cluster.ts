// The folder of the embedded Postgres on disk: where it is, making it, and clearing what a killed
// server left. The data folder's lock must be held.

import { chmod, chown, lstat, mkdir, mkdtemp, readFile } from "node:fs/promises";
import { readlink, realpath, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Readable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../base/operator-error.ts";
import { findAccount, isReachable } from "./account.ts";
import type { Account } from "./account.ts";
import type { PostgresBinaries } from "./binaries.ts";
import { exitOf, readCommandLine, sendSignal, spawnGuarded } from "./processes.ts";

const socketName = ".s.PGSQL.5432";

/** The database's owner; reachable through a folder that only its account can open. */
export const databaseUser = "waggle";

const socketFolderPrefix = "waggle-socket-";

/** sun_path holds 108 bytes with the closing NUL on Linux and 104 on macOS. */
const socketPathBytesMax = 103;

/** For root, where the data folder is closed to the account that Postgres runs as. */
const sharedFolder = "/var/lib/waggle";

const orphanStopTimeoutMs = 30_000;
const initdbStopSeconds = 10;

export type Cluster = {
  readonly folder: string;
  readonly account: Account | undefined;
  readonly binariesFolder: string;
};

/**
 * Returns where the cluster of a data folder is or will be: `postgres` in it. Root's data folder
 * may be closed to the account Postgres runs as (below /root): then `postgres` is a link to a
 * folder in /var/lib/waggle.
 */
export async function locateCluster(dataFolder: string): Promise<Cluster> {
  const path = join(dataFolder, "postgres");
  const present = await realpath(path).catch(() => undefined);
  const account = await findAccount(present ?? path);
  if (present !== undefined) {
    await assertOurs(present);
    const isInside = !(await lstat(path)).isSymbolicLink();
    const binariesFolder = join(isInside ? dataFolder : sharedFolder, "postgres-binaries");
    return { folder: present, account, binariesFolder };
  }
  if (account && !(await isOpen(dataFolder, account))) {
    await mkdir(sharedFolder, { recursive: true, mode: 0o755 });
    return {
      folder: await plannedFolder(path),
      account,
      binariesFolder: join(sharedFolder, "postgres-binaries"),
    };
  }
  return { folder: path, account, binariesFolder: join(dataFolder, "postgres-binaries") };
}

/** A start that was cut off before initdb had finished left its link: it is used again. */
async function plannedFolder(path: string): Promise<string> {
  const left = await readlink(path).catch(() => undefined);
  if (left !== undefined) return left;
  const parent = await mkdtemp(join(sharedFolder, "data-"));
  await chmod(parent, 0o711);
  await symlink(join(parent, "postgres"), path);
  return join(parent, "postgres");
}

async function isOpen(dataFolder: string, account: Account): Promise<boolean> {
  const { mode } = await stat(dataFolder);
  // The data folder is ours, so passing through it may be allowed; listing it stays closed.
  await chmod(dataFolder, (mode & 0o7777) | 0o011);
  return isReachable(join(dataFolder, "."), account, 0o1);
}

async function assertOurs(folder: string): Promise<void> {
  const uid = process.getuid?.();
  const owner = (await stat(folder)).uid;
  if (uid === undefined || uid === 0 || uid === owner) return;
  throw new OperatorError(
    `${folder} belongs to user ${owner}, who started waggle here first: start it as that user ` +
      "or as root, or choose another data folder",
  );
}

export type CreateClusterOptions = {
  readonly initdbArguments: readonly string[];
  /** Cuts it off: initdb is stopped and the signal's reason thrown. */
  readonly signal: AbortSignal | undefined;
};

/** Makes the cluster unless it is there. One that was cut off half-way is made anew. */
export async function createCluster(
  cluster: Cluster,
  binaries: PostgresBinaries,
  { initdbArguments, signal }: CreateClusterOptions,
): Promise<void> {
  const { folder, account } = cluster;
  if (await isCluster(folder)) return;
  const unfinished = `${folder}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  if (account) await chown(unfinished, account.uid, account.gid);
  signal?.throwIfAborted();
  const running = spawnGuarded(
    binaries.initdb,
    [
      ...["--pgdata", unfinished, "--username", databaseUser, "--auth", "trust"],
      // Text sorts by its bytes, on every machine alike, yet upper and lower case know all letters.
      ...["--encoding", "UTF8", "--locale", "C"],
      ...["--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"],
      ...["--no-instructions", ...initdbArguments],
    ],
    {
      ...account,
      cwd: unfinished,
      env: { LC_ALL: "C", TZ: "UTC" },
      ending: { signal: "TERM", force: "KILL", seconds: initdbStopSeconds },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  const kill = () => running.kill();
  signal?.addEventListener("abort", kill);
  // Also when it was killed: only then have initdb and its Postgres ended.
  const [complaint, end] = await Promise.all([
    readText(running.stderr as Readable),
    exitOf(running),
  ]);
  signal?.removeEventListener("abort", kill);
  signal?.throwIfAborted();
  if (running.exitCode !== 0) throw new Error(`initdb ended with ${end}: ${complaint}`);
  await rename(unfinished, folder);
}

export async function isCluster(folder: string): Promise<boolean> {
  return stat(join(folder, "PG_VERSION")).then(
    () => true,
    () => false,
  );
}

/**
 * Returns a folder for the server's socket: the cluster itself, or a fresh one in the temporary
 * folder where the cluster's path is too long for a socket.
 */
export async function createSocketFolder(cluster: Cluster): Promise<string> {
  const { folder, account } = cluster;
  const fits = (parent: string) =>
    Buffer.byteLength(join(parent, socketName)) <= socketPathBytesMax;
  if (fits(folder)) return folder;
  const short = join(tmpdir(), socketFolderPrefix);
  const created = await mkdtemp(fits(`${short}XXXXXX`) ? short : `/tmp/${socketFolderPrefix}`);
  if (account) await chown(created, account.uid, account.gid);
  return created;
}

/** Removes a folder that createSocketFolder made in the temporary folder; leaves any other. */
export async function removeSocketFolder(folder: string): Promise<void> {
  if (!basename(folder).startsWith(socketFolderPrefix)) return;
  await rm(folder, { recursive: true, force: true });
}

type PidFile = {
  readonly pid: number;
  /** The server's folder, as its command line has it. */
  readonly folder: string;
  readonly socketFolder: string;
  readonly isReady: boolean;
};

/** Reads what a running server, or one that was killed, wrote to `postmaster.pid`. */
export async function findPidFile(folder: string): Promise<PidFile | undefined> {
  const text = await readFile(join(folder, "postmaster.pid"), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  // Lines: pid, data folder, start time, port, socket folder, address, shared memory, status.
  const lines = text.split("\n");
  return {
    pid: Number(lines[0]),
    folder: lines[1] || folder,
    socketFolder: lines[4] ?? "",
    isReady: lines[7]?.startsWith("ready") ?? false,
  };
}

/** Tells whether a server listens in a socket folder. */
export async function isListening(socketFolder: string): Promise<boolean> {
  if (socketFolder === "") return false;
  return new Promise((settle) => {
    const socket = connect(join(socketFolder, socketName));
    socket.once("connect", () => {
      socket.destroy();
      settle(true);
    });
    socket.once("error", () => settle(false));
  });
}

/**
 * Stops a server that outlived the service that started it (kill -9), and makes what a killed
 * server left harmless.
 */
export async function clearRemains(folder: string): Promise<void> {
  const found = await findPidFile(folder);
  if (found && (await isServer(found))) {
    await stopOrphan(found);
    await removeSocketFolder(found.socketFolder);
  }
  const left = await findPidFile(folder);
  if (!left) return;
  // Postgres refuses to start while any process has the pid in the file, and after a restart of a
  // container another one often has. It takes its parent's pid for stale, which is ours. The file
  // itself stays: by it Postgres sees whether old backends still hold the shared memory.
  const path = join(folder, "postmaster.pid");
  const lines = (await readFile(path, "utf8")).split("\n");
  await writeFile(path, [String(process.pid), ...lines.slice(1)].join("\n"));
  if (left.socketFolder === "") return;
  await rm(join(left.socketFolder, socketName), { force: true });
  await rm(join(left.socketFolder, `${socketName}.lock`), { force: true });
  await removeSocketFolder(left.socketFolder);
}

/** After a restart of the machine or container another process may have the pid. */
async function isServer({ pid, folder }: PidFile): Promise<boolean> {
  const commandLine = (await readCommandLine(pid)).replaceAll("\0", " ");
  return commandLine.includes(` -D ${folder} `);
}

/**
 * Waits for the end of the process itself: its last act is to delete its pid file, and by then the
 * file could be that of the next server. After SIGKILL the next start recovers from the log, which
 * loses nothing that was acknowledged.
 */
async function stopOrphan(orphan: PidFile): Promise<void> {
  for (const signal of ["SIGINT", "SIGKILL"] as const) {
    sendSignal(orphan.pid, signal);
    const deadline = Date.now() + orphanStopTimeoutMs;
    while (Date.now() < deadline) {
      if (!(await isServer(orphan))) return;
      await delay(50);
    }
  }
}
