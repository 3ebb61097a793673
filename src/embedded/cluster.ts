// Folder of the embedded Postgres: finds and creates it, and clears the remains of a killed server.
// The data folder's lock must be held.

import { chmod, chown, lstat, mkdir, mkdtemp, readFile } from "node:fs/promises";
import { readlink, realpath, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Readable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../base/operator-error.ts";
import { type Account, findAccount, isReachable } from "../base/account.ts";
import type { PostgresBinaries } from "./binaries.ts";
import { exitOf, readCommandLine, sendSignal, spawnGuarded } from "./processes.ts";

const socketName = ".s.PGSQL.5432";

/** Owner of the database; the folder of its socket is closed to other accounts. */
export const databaseUser = "waggle";

const socketFolderPrefix = "waggle-socket-";

/** Maximum bytes of a socket path: sun_path has 108 with the final NUL on Linux, 104 on macOS. */
const socketPathBytesMax = 103;

/** Folder for root, if the account of Postgres cannot reach the data folder. */
const sharedFolder = "/var/lib/waggle";

const orphanStopTimeoutMs = 30_000;
const initdbStopSeconds = 10;

export type Cluster = {
  readonly folder: string;
  readonly account: Account | undefined;
  readonly binariesFolder: string;
};

/**
 * Returns the existing or future cluster of a data folder: `postgres` in it. If the account of
 * Postgres cannot reach root's data folder (such as one below /root), `postgres` is a link to a
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

/** Returns the target of a new link, or of the link that an interrupted start left. */
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
  // Others may pass through the data folder, which is ours, but not list it.
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
  /** Interrupts initdb; the signal's reason is thrown. */
  readonly signal: AbortSignal | undefined;
};

/** Creates the cluster if it does not exist. An interrupted creation starts over. */
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
      `--pgdata=${unfinished}`,
      `--username=${databaseUser}`,
      "--auth=trust",
      // Locale C.UTF-8: byte-order collation, Unicode case mapping.
      "--encoding=UTF8",
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--no-instructions",
      ...initdbArguments,
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
  // Waits also after a kill: initdb and its Postgres must have ended.
  const [complaint, end] = await Promise.all([
    readText(running.stderr as Readable),
    exitOf(running),
  ]);
  signal?.removeEventListener("abort", kill);
  signal?.throwIfAborted();
  if (running.exitCode !== 0) {
    throw new OperatorError(`initdb ended with ${end}: ${complaint.trimEnd()}`);
  }
  await rename(unfinished, folder);
}

export async function isCluster(folder: string): Promise<boolean> {
  return stat(join(folder, "PG_VERSION")).then(
    () => true,
    () => false,
  );
}

/**
 * Returns a folder for the server's socket: the cluster itself, or a new one in the temporary
 * folder if the cluster's path is too long for a socket.
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

/** Removes a folder that createSocketFolder created in the temporary folder; keeps any other. */
export async function removeSocketFolder(folder: string): Promise<void> {
  if (!basename(folder).startsWith(socketFolderPrefix)) return;
  await rm(folder, { recursive: true, force: true });
}

type PidFile = {
  readonly pid: number;
  /** The server's folder as written on its command line. */
  readonly folder: string;
  readonly socketFolder: string;
  readonly isReady: boolean;
};

/** Reads the `postmaster.pid` of a running or killed server. */
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

/** Returns whether a server listens in a socket folder. */
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

/** Stops a server that outlived its service (kill -9), and clears the remains of a killed one. */
export async function clearRemains(folder: string): Promise<void> {
  const found = await findPidFile(folder);
  if (found && (await isServer(found))) {
    await stopOrphan(found);
    await removeSocketFolder(found.socketFolder);
  }
  const left = await findPidFile(folder);
  if (!left) return;
  // Postgres refuses to start while any process has the pid in the file, and after a restart of a
  // container another process often has it. Postgres treats its parent's pid, which is ours, as
  // stale. The file itself stays: through it Postgres checks whether old backends still hold the
  // shared memory.
  const path = join(folder, "postmaster.pid");
  const lines = (await readFile(path, "utf8")).split("\n");
  await writeFile(path, [String(process.pid), ...lines.slice(1)].join("\n"));
  if (left.socketFolder === "") return;
  await rm(join(left.socketFolder, socketName), { force: true });
  await rm(join(left.socketFolder, `${socketName}.lock`), { force: true });
  await removeSocketFolder(left.socketFolder);
}

/** Checks the command line too: after a restart another process may have the pid. */
async function isServer({ pid, folder }: PidFile): Promise<boolean> {
  const commandLine = (await readCommandLine(pid)).replaceAll("\0", " ");
  return commandLine.includes(` -D ${folder} `);
}

/**
 * Waits for the end of the process, not for the deletion of its pid file: that is its last act, and
 * by then the file could belong to the next server. After SIGKILL the next start recovers from the
 * log, so no acknowledged write is lost.
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
