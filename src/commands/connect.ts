// Opens the databases of a process and waits until they answer.

import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../base/operator-error.ts";
import type { Config } from "../config.ts";
import { type Clusters, openClusters, type OpenClustersOptions } from "../postgres/clusters.ts";
import { type Database, openDatabase } from "../postgres/database.ts";
import { orAborted } from "./interruption.ts";
import type { Progress } from "./progress.ts";

/** Long enough for a database that a container runtime starts at the same time. */
const databaseTimeoutMs = 60_000;
const databasePollMs = 500;

/** Work of a process: requests, background work (workflows), or both. */
export type Workload = "requests" | "background" | "both";

/** Few, so that moving events does not keep requests waiting for the database. */
const backgroundConnectionsBeside = 6;
/** For what a process without requests does in the foreground: access changes and metrics. */
const requestConnectionsBeside = 2;

/**
 * Divides the connections to a database. A process that does one kind of work gives it all or
 * nearly all of them; background work beside requests has connections in addition.
 */
export function divideConnections(
  { databaseConnectionsMax: max }: Pick<Config, "databaseConnectionsMax">,
  workload: Workload,
): Required<Pick<OpenClustersOptions, "connectionsMax" | "backgroundConnectionsMax">> {
  const divided = {
    requests: { connectionsMax: max, backgroundConnectionsMax: 0 },
    background: {
      connectionsMax: requestConnectionsBeside,
      backgroundConnectionsMax: max - requestConnectionsBeside,
    },
    both: { connectionsMax: max, backgroundConnectionsMax: backgroundConnectionsBeside },
  };
  return divided[workload];
}

export type ConnectDatabaseOptions = {
  /** Default: requests. */
  readonly workload?: Workload;
  /** Ends the wait: its reason is thrown. */
  readonly signal: AbortSignal;
  readonly progress?: Progress;
};

/** Opens the pool and waits up to a minute until the database answers. */
export async function connectDatabase(
  url: string,
  config: Pick<Config, "databaseConnectionsMax">,
  { signal, progress, workload = "requests" }: ConnectDatabaseOptions,
): Promise<Database> {
  const database = openDatabase({ url, ...divideConnections(config, workload) });
  const deadline = Date.now() + databaseTimeoutMs;
  progress?.step(`waiting for the database${placeOf(url)}`);
  try {
    while (!(await isAnswering(database, deadline, signal))) {
      await orAborted(delay(databasePollMs), signal);
    }
    return database;
  } catch (error) {
    const closed = database.close();
    // A server that accepts connections but does not answer would delay this by five seconds.
    if (!signal.aborted) await closed;
    throw error;
  }
}

/** Returns where a database is, without its user and password; empty for a socket's folder. */
function placeOf(url: string): string {
  const { host, searchParams } = new URL(url);
  return host === "" || searchParams.has("host") ? "" : ` at ${host}`;
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
    if (Date.now() <= deadline && !isRefusal(cause)) return false;
    const said = isRefusal(cause) ? "refuses the connection" : "does not answer";
    throw new OperatorError(`the database ${said}: ${(cause as Error).message}`, { cause });
  }
}

/**
 * Returns whether a retry would not help: an SQL error, such as a wrong password, except SQLSTATE
 * class 57, which a starting server returns.
 */
function isRefusal(error: unknown): boolean {
  const { code = "" } = error as NodeJS.ErrnoException;
  return /^[0-9A-Z]{5}$/.test(code) && !code.startsWith("57");
}

/**
 * Opens the configured clusters and waits some seconds for them. An unavailable cluster is retried
 * while the service runs.
 */
export async function connectClusters(
  control: Database,
  config: Pick<Config, "clusters" | "databaseConnectionsMax">,
  options: Pick<OpenClustersOptions, "prepare" | "logger"> & ConnectDatabaseOptions,
): Promise<Clusters> {
  const { prepare, logger, signal, progress, workload = "requests" } = options;
  const clusters = openClusters({
    control,
    urls: config.clusters,
    ...divideConnections(config, workload),
    prepare,
    logger,
  });
  progress?.step("waiting for the clusters");
  try {
    await orAborted(clusters.firstLook(), signal);
    return clusters;
  } catch (error) {
    // Not awaited, because a server may accept connections without answering.
    void clusters.close();
    throw error;
  }
}
