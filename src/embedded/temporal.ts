// Runs a Temporal dev server as a child process. The data folder keeps its state and its ports. The
// server restarts when it dies and stops when the service dies.

import type { ChildProcess } from "node:child_process";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../base/operator-error.ts";
import { isAnswering, openConnection, registerSearchAttributes } from "../workflows/namespace.ts";
import { searchAttributeNames } from "../workflows/search-attributes.ts";
import { exitOf, spawnServer } from "./processes.ts";
import { prepareLog, readLogEnd } from "./server-log.ts";
import { findTemporal, type FindTemporalOptions } from "./temporal-binary.ts";
import { choosePorts, host, openTemporalFolder, stopOrphan } from "./temporal-folder.ts";
import type { Ports, TemporalFolder } from "./temporal-folder.ts";

export type EmbeddedTemporal = {
  /** `127.0.0.1:port` for clients and workers; valid until `stop`, also after a restart. */
  readonly address: string;
  /** Web page with which an operator watches workflows. */
  readonly uiUrl: string;
  readonly namespace: string;
  /** Process id of the current server; changes with a restart. */
  readonly pid: number;
  /** Ends the process; acknowledged work is on disk. Idempotent. */
  stop(): Promise<void>;
};

/** `folder` is the data folder: it must exist, and the caller must hold its lock. */
export type StartTemporalOptions = FindTemporalOptions & {
  /** Called with the cause when the server ended by itself and is restarted. */
  readonly onRestart: (cause: string) => void;
  /** Default: the port of the last start if it is free, else a free one. */
  readonly port?: number;
};

const namespace = "default";
const startTimeoutMs = 60_000;
const stopTimeoutMs = 15_000;
const logCheckMs = 60_000;
/** Maximum starts: another program may take a port between our check and the server's start. */
const startTriesMax = 3;

/** Starts the Temporal of a data folder, and downloads its program first if there is none. */
export async function startTemporal(options: StartTemporalOptions): Promise<EmbeddedTemporal> {
  if (process.platform === "win32") {
    throw new OperatorError(
      "the embedded Temporal needs Linux or macOS: set TEMPORAL_ADDRESS, or use WSL",
    );
  }
  const binary = await findTemporal(options);
  options.onProgress("starting Temporal");
  const folder = await openTemporalFolder(options.folder);
  await stopOrphan(folder);
  const { server, child } = await launchOnFreePorts(binary, folder, options);
  const supervisor = supervise(server, child, options.onRestart);
  return {
    address: addressOf(server.ports),
    uiUrl: `http://${host}:${server.ports.uiPort}`,
    namespace,
    get pid() {
      return supervisor.pid();
    },
    stop: () => supervisor.stop(),
  };
}

type Server = {
  readonly binary: string;
  readonly folder: TemporalFolder;
  readonly ports: Ports;
};

function addressOf({ port }: Ports): string {
  return `${host}:${port}`;
}

async function launchOnFreePorts(
  binary: string,
  folder: TemporalFolder,
  { port, signal }: StartTemporalOptions,
): Promise<{ readonly server: Server; readonly child: ChildProcess }> {
  for (let tries = 1; ; tries += 1) {
    const server = { binary, folder, ports: await choosePorts(folder, port) };
    try {
      return { server, child: await launch(server, signal) };
    } catch (error) {
      const isPortTaken = String(error).includes("address already in use");
      if (!isPortTaken || tries === startTriesMax) throw error;
    }
  }
}

type Supervisor = { pid(): number; stop(): Promise<void> };

/** Keeps the server running until `stop`: restarts it when it ends by itself. */
function supervise(
  server: Server,
  first: ChildProcess,
  onRestart: (cause: string) => void,
): Supervisor {
  const stopping = new AbortController();
  let child = first;
  const logCheck = setInterval(() => {
    // The server appends, so truncating is safe. After a failure the next check retries.
    prepareLog(server.folder.logPath).catch(() => undefined);
  }, logCheckMs).unref();
  const ended = (async () => {
    for (;;) {
      const cause = await exitOf(child);
      if (stopping.signal.aborted) return;
      onRestart(cause);
      const next = await launchUntilItRuns(server, stopping.signal, onRestart);
      if (!next) return;
      child = next;
      // stop() was called during this start, and ended the previous process.
      if (stopping.signal.aborted) void end(child);
    }
  })();
  return {
    pid: () => child.pid ?? 0,
    async stop() {
      stopping.abort();
      clearInterval(logCheck);
      await end(child);
      await ended;
      await stopOrphan(server.folder);
    },
  };
}

async function launchUntilItRuns(
  server: Server,
  stopping: AbortSignal,
  onRestart: (cause: string) => void,
): Promise<ChildProcess | undefined> {
  while (!stopping.aborted) {
    try {
      return await launch(server, stopping);
    } catch (error) {
      if (stopping.aborted) return undefined;
      onRestart(String(error));
      await delay(1_000);
    }
  }
  return undefined;
}

/** Starts the server and waits until it answers; stops it when `signal` is aborted. */
async function launch(server: Server, signal: AbortSignal): Promise<ChildProcess> {
  signal.throwIfAborted();
  const { logPath } = server.folder;
  const logStart = await prepareLog(logPath);
  const child = await spawnTemporal(server);
  try {
    if (await becomesReady(child, server, signal)) return child;
  } catch (error) {
    await end(child);
    throw error;
  }
  await end(child);
  signal.throwIfAborted();
  const log = await readLogEnd(logPath, logStart);
  throw new OperatorError(`Temporal did not start (${logPath}):\n${log}`);
}

function spawnTemporal({ binary, folder, ports }: Server): Promise<ChildProcess> {
  // The shell writes its pid and then becomes the server, so that the file contains the pid of
  // every server, even if we are killed.
  const script = 'echo $$ > "$1" && shift && exec "$@"';
  const words = [folder.pidPath, binary, "server", "start-dev", ...serverFlags(folder, ports)];
  return spawnServer("/bin/sh", ["-c", script, "sh", ...words], {
    cwd: dirname(folder.databasePath),
    // A separate home, without the configuration of the user's CLI.
    env: { HOME: dirname(folder.databasePath), TZ: "UTC" },
    ending: { signal: "TERM", force: "KILL", seconds: stopTimeoutMs / 1_000 },
    logPath: folder.logPath,
  });
}

function serverFlags({ databasePath }: TemporalFolder, { port, uiPort }: Ports): readonly string[] {
  return [
    `--ip=${host}`,
    `--port=${port}`,
    `--ui-port=${uiPort}`,
    `--db-filename=${databasePath}`,
    "--log-level=error",
    // WAL more than doubles the throughput. FULL, because the outbox deletes work that was taken
    // over: it must survive a power cut.
    "--sqlite-pragma=journal_mode=WAL",
    "--sqlite-pragma=synchronous=FULL",
    // Applies to a new database only; becomesReady adds the attributes to an older one.
    ...searchAttributeNames.flatMap((name) => ["--search-attribute", `${name}=Keyword`]),
  ];
}

/** Returns false if the server ended, did not become ready in time, or `signal` is aborted. */
async function becomesReady(
  child: ChildProcess,
  { ports }: Server,
  signal: AbortSignal,
): Promise<boolean> {
  const deadline = Date.now() + startTimeoutMs;
  const connection = openConnection(addressOf(ports));
  try {
    while (child.exitCode === null && child.signalCode === null) {
      if (signal.aborted || Date.now() > deadline) return false;
      if (await isAnswering(connection, namespace)) {
        await registerSearchAttributes(connection, namespace);
        return true;
      }
      await delay(50);
    }
    return false;
  } finally {
    await connection.close();
  }
}

/** Ends a server, by force if it does not react to the signal. */
async function end(child: ChildProcess): Promise<void> {
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
  await exitOf(child).finally(() => clearTimeout(timer));
}
