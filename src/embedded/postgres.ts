// Runs Postgres as a child process on one machine: creates it at the first start, recovers it after
// a crash, restarts it when it dies, and stops it when the service dies.

import type { ChildProcess } from "node:child_process";
import { totalmem } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../base/operator-error.ts";
import { openDatabase } from "../postgres/database.ts";
import { type PostgresBinaries, preparePostgresBinaries } from "./binaries.ts";
import * as clusters from "./cluster.ts";
import type { Cluster } from "./cluster.ts";
import { exitOf, spawnServer } from "./processes.ts";
import { prepareLog, readLogEnd } from "./server-log.ts";

export type EmbeddedPostgres = {
  /** URL for openDatabase; valid until `stop`, also after Postgres was restarted. */
  readonly url: string;
  /** Closes connections, writes everything to disk and ends the process. Idempotent. */
  stop(): Promise<void>;
};

export type StartPostgresOptions = {
  /** The data folder; it must exist, and the caller must hold its lock. */
  readonly folder: string;
  /** Called with the current step in a few words. */
  readonly onProgress?: (step: string) => void;
  /** Called with the place of the data if they are not in the data folder. */
  readonly onRemark?: (remark: string) => void;
  /** Called with the cause when Postgres ended by itself and is restarted. */
  readonly onRestart?: (cause: string) => void;
  /** Settings in addition to the defaults below. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly initdbArguments?: readonly string[];
  /** Interrupts the start: running processes are stopped and the signal's reason is thrown. */
  readonly signal?: AbortSignal;
};

const databaseName = "waggle";
const startTimeoutMs = 600_000;
const stopTimeoutMs = 30_000;
const oldBackendsTimeoutMs = 30_000;

/** Starts the Postgres of a data folder, and creates it first if there is none. */
export async function startPostgres(options: StartPostgresOptions): Promise<EmbeddedPostgres> {
  if (process.platform === "win32") {
    throw new OperatorError(
      "the embedded Postgres needs Linux or macOS: set DATABASE_URL, or use WSL",
    );
  }
  const dataFolder = resolve(options.folder);
  const cluster = await clusters.locateCluster(dataFolder);
  const binaries = await preparePostgresBinaries(cluster.account, cluster.binariesFolder);
  if (!(await clusters.isCluster(cluster.folder))) {
    options.onProgress?.("initialising Postgres");
    if (!cluster.folder.startsWith(dataFolder)) {
      options.onRemark?.(
        `Postgres runs as an unprivileged account, to which ${dataFolder} is closed: ` +
          `its data are in ${cluster.folder}`,
      );
    }
    const { initdbArguments = [], signal } = options;
    await clusters.createCluster(cluster, binaries, { initdbArguments, signal });
  }
  options.onProgress?.("starting Postgres");
  await clusters.clearRemains(cluster.folder);
  const socketFolder = await clusters.createSocketFolder(cluster);
  const server = { cluster, binaries, socketFolder, logPath: join(dataFolder, "postgres.log") };
  let supervisor: Supervisor | undefined;
  async function stop(): Promise<void> {
    await supervisor?.stop();
    await clusters.removeSocketFolder(socketFolder);
  }
  try {
    supervisor = await supervise({ ...server, settings: options.settings ?? {} }, options);
    await createDatabase(socketFolder);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: databaseUrl(socketFolder), stop };
}

/** Returns the URL of a data folder's running Postgres; undefined if none runs. */
export async function findRunningPostgres(dataFolder: string): Promise<string | undefined> {
  const left = await clusters.findPidFile(join(dataFolder, "postgres"));
  if (!left?.isReady || !(await clusters.isListening(left.socketFolder))) return undefined;
  return databaseUrl(left.socketFolder);
}

function databaseUrl(socketFolder: string, database = databaseName): string {
  const parameters = new URLSearchParams({ host: socketFolder });
  return `postgres://${clusters.databaseUser}@localhost/${database}?${parameters.toString()}`;
}

type Server = {
  readonly cluster: Cluster;
  readonly binaries: PostgresBinaries;
  readonly socketFolder: string;
  readonly logPath: string;
  readonly settings: Readonly<Record<string, string>>;
};

type Supervisor = { stop(): Promise<void> };

/** Keeps the server running until `stop`: restarts it when it ends by itself. */
async function supervise(
  server: Server,
  { onRestart, signal }: Pick<StartPostgresOptions, "onRestart" | "signal">,
): Promise<Supervisor> {
  let isStopping = false;
  let child = await launch(server, signal);
  const ended = (async () => {
    for (;;) {
      const cause = await exitOf(child);
      if (isStopping) return;
      onRestart?.(cause);
      await clusters.clearRemains(server.cluster.folder);
      const next = await launchUntilItRuns(server, () => isStopping, onRestart);
      if (!next) return;
      child = next;
      // stop() was called during this start, and signalled the previous process.
      if (isStopping) child.kill("SIGINT");
    }
  })();
  return {
    async stop() {
      isStopping = true;
      child.kill("SIGINT");
      const timer = setTimeout(() => child.kill("SIGQUIT"), stopTimeoutMs);
      await ended.finally(() => clearTimeout(timer));
    },
  };
}

async function launchUntilItRuns(
  server: Server,
  isStopping: () => boolean,
  onRestart: StartPostgresOptions["onRestart"],
): Promise<ChildProcess | undefined> {
  while (!isStopping()) {
    try {
      return await launch(server);
    } catch (error) {
      onRestart?.(String(error));
      await delay(1_000);
    }
  }
  return undefined;
}

/**
 * Starts the server and waits until it accepts connections. Stops it when `signal` is aborted, and
 * returns or throws only when a stopped server and its guard have ended.
 */
async function launch(server: Server, signal?: AbortSignal): Promise<ChildProcess> {
  const deadline = Date.now() + oldBackendsTimeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const logStart = await prepareLog(server.logPath);
    const child = await spawnPostgres(server);
    if (await becomesReady(child, server.cluster.folder, signal)) return child;
    await exitOf(child);
    signal?.throwIfAborted();
    const log = await readLogEnd(server.logPath, logStart);
    // After a kill -9 of the server alone, its backends need a moment to notice and end.
    const isWaitingForBackends = log.includes("pre-existing shared memory block");
    if (!isWaitingForBackends || Date.now() > deadline) {
      throw new OperatorError(`Postgres did not start (${server.logPath}):\n${log}`);
    }
    await delay(250);
  }
}

function spawnPostgres(server: Server): Promise<ChildProcess> {
  const { binaries, cluster, logPath } = server;
  const settings = {
    ...defaultSettings(),
    unix_socket_directories: server.socketFolder,
    ...server.settings,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return spawnServer(binaries.postgres, ["-D", cluster.folder, ...flags], {
    ...cluster.account,
    cwd: cluster.folder,
    env: { LC_ALL: "C", TZ: "UTC" },
    ending: { signal: "INT", force: "QUIT", seconds: stopTimeoutMs / 1_000 },
    logPath,
  });
}

/** Returns the default settings. Synchronous commit: a confirmed event survives a power cut. */
function defaultSettings(): Record<string, string> {
  const memoryMb = Math.floor(totalmem() / 1_048_576);
  return {
    listen_addresses: "",
    port: "5432",
    unix_socket_permissions: "0700",
    max_connections: "60",
    shared_buffers: `${Math.min(256, Math.max(32, Math.floor(memoryMb / 8)))}MB`,
    effective_cache_size: `${Math.floor(memoryMb / 2)}MB`,
    work_mem: "16MB",
    maintenance_work_mem: "128MB",
    // Fewer checkpoints, so fewer full pages in the log: ingestion writes every page it touches.
    max_wal_size: "4GB",
    checkpoint_timeout: "15min",
    // A new table is planned from its statistics soon: without any, Postgres takes the wrong index.
    autovacuum_naptime: "10s",
    random_page_cost: "1.1",
    // Compiling a plan takes longer than any of our queries.
    jit: "off",
    timezone: "UTC",
    log_timezone: "UTC",
    log_checkpoints: "off",
    // Statements contain data of users, which must not get into the log.
    log_min_error_statement: "panic",
    log_error_verbosity: "terse",
  };
}

/** Returns false if the server ended or did not become ready in time. */
async function becomesReady(
  child: ChildProcess,
  folder: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const deadline = Date.now() + startTimeoutMs;
  while (child.exitCode === null && child.signalCode === null) {
    const file = await clusters.findPidFile(folder);
    if (file?.pid === child.pid && file?.isReady) return true;
    // A signal before Postgres handles signals kills it at once, which loses nothing here.
    if (signal?.aborted) child.kill("SIGINT");
    if (Date.now() > deadline) {
      child.kill("SIGQUIT");
      return false;
    }
    await delay(20);
  }
  return false;
}

async function createDatabase(socketFolder: string): Promise<void> {
  const server = openDatabase({ url: databaseUrl(socketFolder, "postgres"), connectionsMax: 1 });
  try {
    const sql = server.sql();
    const present = await sql`select 1 from pg_database where datname = ${databaseName}`;
    if (present.length === 0) await sql`create database ${sql(databaseName)}`;
  } finally {
    await server.close();
  }
}
