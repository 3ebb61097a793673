// Opens the databases that a process works on, and waits until they answer. Called by the commands.

import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../base/operator-error.ts";
import type { Config } from "../config.ts";
import { openClusters } from "../postgres/clusters.ts";
import type { Clusters, OpenClustersOptions } from "../postgres/clusters.ts";
import { openDatabase } from "../postgres/database.ts";
import type { Database } from "../postgres/database.ts";
import { orAborted } from "./interruption.ts";
import type { Progress } from "./progress.ts";

/** Long enough for a database that a container runtime starts beside us. */
const databaseTimeoutMs = 60_000;
const databasePollMs = 500;

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
