// Runs the service on a database until it is told to stop. Called by start.ts and serve.ts;
// opening databases and watching for the end also by the other commands.

import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../base/operator-error.ts";
import { createApp } from "../app.ts";
import type { AppOptions } from "../app.ts";
import { createLogger } from "../base/logger.ts";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config.ts";
import { createMetrics } from "../operator/metrics.ts";
import { startOperatorServer } from "../operator/server.ts";
import type { OperatorServer } from "../operator/server.ts";
import { openClusters } from "../postgres/clusters.ts";
import type { Clusters, OpenClustersOptions } from "../postgres/clusters.ts";
import { openDatabase } from "../postgres/database.ts";
import type { Database } from "../postgres/database.ts";
import { orAborted } from "./interruption.ts";
import type { Progress } from "./progress.ts";

/** Long enough for a database that a container runtime starts beside us. */
const databaseTimeoutMs = 60_000;
const databasePollMs = 500;
/** For storing what waits in the commit queue after the last connection was cut. */
const closeGraceMs = 10_000;

export type ConnectDatabaseOptions = {
  /** Ends the waiting: its reason is thrown. */
  readonly signal: AbortSignal;
  readonly progress?: Progress;
};

/** Opens the pool and waits until the database answers, for at most a minute. */
export async function connectDatabase(
  url: string,
  config: Pick<Config, "databaseConnectionsMax">,
  { signal, progress }: ConnectDatabaseOptions,
): Promise<Database> {
  const database = openDatabase({ url, connectionsMax: config.databaseConnectionsMax });
  const deadline = Date.now() + databaseTimeoutMs;
  progress?.step("waiting for the database");
  try {
    while (!(await isAnswering(database, deadline, signal))) {
      await orAborted(delay(databasePollMs), signal);
    }
    return database;
  } catch (error) {
    const closed = database.close();
    // A server that accepts connections and says nothing would hold this up for five seconds.
    if (!signal.aborted) await closed;
    throw error;
  }
}

async function isAnswering(
  database: Database,
  deadline: number,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await orAborted(database.sql()`select 1`, signal);
    return true;
  } catch (cause) {
    signal.throwIfAborted();
    if (Date.now() <= deadline && isWorthWaiting(cause)) return false;
    const { message } = cause as Error;
    throw new OperatorError(`the database does not answer: ${message}`, { cause });
  }
}

/** A wrong password or database name stays wrong; SQLSTATE class 57 is a server starting up. */
function isWorthWaiting(error: unknown): boolean {
  const { code = "" } = error as NodeJS.ErrnoException;
  return !/^[0-9A-Z]{5}$/.test(code) || code.startsWith("57");
}

/**
 * Opens the clusters of the configuration and waits some seconds for them; one that is away then is
 * looked for while the service runs.
 */
export async function connectClusters(
  control: Database,
  config: Pick<Config, "clusters" | "databaseConnectionsMax">,
  options: Pick<OpenClustersOptions, "prepare" | "logger"> & ConnectDatabaseOptions,
): Promise<Clusters> {
  const { prepare, logger, signal, progress } = options;
  const clusters = openClusters({
    control,
    urls: config.clusters,
    connectionsMax: config.databaseConnectionsMax,
    prepare,
    logger,
  });
  progress?.step("waiting for the clusters");
  try {
    await orAborted(clusters.firstLook(), signal);
    return clusters;
  } catch (error) {
    // As for a database that accepts connections and says nothing.
    void clusters.close();
    throw error;
  }
}

export type RunningService = {
  readonly url: string;
  /** Refuses new work, finishes the running requests within the drain time, or until `hurry`. */
  stop(hurry: Promise<void>): Promise<void>;
};

/** Starts listening: the API's port and, unless it is off or taken, the operator's. */
export async function startService(
  config: Config,
  { database, clusters, logger }: Pick<AppOptions, "database" | "clusters" | "logger">,
): Promise<RunningService> {
  const metrics = createMetrics();
  const app = await createApp({ config, database, clusters, logger, metrics });
  const { url } = await app.listen().catch((cause: unknown) => {
    throw describeListenFailure(cause, config);
  });
  const operator = await startOperator(config, metrics, logger);
  return {
    url: reachableUrl(url),
    async stop(hurry) {
      // close() keeps to the drain time by itself; one that hangs must not keep Postgres running.
      const limit = delay(config.drainTimeoutMs + closeGraceMs, undefined, { ref: false });
      await Promise.race([app.close(), limit, hurry]);
      await operator?.close();
    },
  };
}

function describeListenFailure(cause: unknown, { host, port }: Config): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  const what = {
    EADDRINUSE: "is in use: stop what uses it, or choose another port with --port",
    EADDRNOTAVAIL: "is not an address of this machine: choose another with --host",
    ENOTFOUND: "is not an address of this machine: choose another with --host",
    EACCES: "may not be listened on by this user: choose a port above 1023 with --port",
  }[code ?? ""];
  return what === undefined ? cause : new OperatorError(`${host}:${port} ${what}`, { cause });
}

/** Metrics are not worth a failed start: two services on one machine share the default port. */
async function startOperator(
  config: Config,
  metrics: ReturnType<typeof createMetrics>,
  logger: Logger,
): Promise<OperatorServer | undefined> {
  if (config.operatorPort === 0) return undefined;
  const address = { host: config.operatorHost, port: config.operatorPort };
  try {
    return await startOperatorServer(metrics.registry, address);
  } catch (error) {
    logger.warn({ err: error, ...address }, "no /metrics: the operator port cannot be used");
    return undefined;
  }
}

/** A service that listens everywhere is reached here on the loopback address. */
function reachableUrl(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

export type End = {
  /** The exit code: 0 after SIGTERM or SIGINT, 1 after a bug that nobody caught. */
  readonly code: Promise<number>;
  /** Aborted at the same time, so that a start is not finished first. */
  readonly signal: AbortSignal;
  /** Settles at a second signal: whoever sends it does not want to wait for running requests. */
  readonly hurry: Promise<void>;
};

/** npm hands on the Ctrl-C that the terminal has already sent us: both are one wish. */
const sameSignalMs = 1_000;

/** Watches, from now on, for what ends the service. */
export function watchForEnd(logger: Logger): End {
  const code = Promise.withResolvers<number>();
  const controller = new AbortController();
  const hurry = Promise.withResolvers<undefined>();
  let firstMs: number | undefined;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      firstMs ??= Date.now();
      logger.info({ signal }, "stopping");
      code.resolve(0);
      controller.abort();
      if (Date.now() - firstMs > sameSignalMs) hurry.resolve(undefined);
    });
  }
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error: unknown) => {
      logger.fatal({ err: error }, "stopping for a bug");
      code.resolve(1);
      controller.abort();
    });
  }
  return { code: code.promise, signal: controller.signal, hurry: hurry.promise };
}

/** Makes the log that a configuration asks for. */
export function loggerOf(config: Config): Logger {
  return createLogger(config.logLevel);
}
