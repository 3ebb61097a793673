// Runs one process of a deployment on databases that `waggle migrate` has prepared: opens them,
// runs the process's part, and stops in an orderly way.

import type { Logger } from "../base/logger.ts";
import type { Config } from "../config.ts";
import type { Clusters } from "../postgres/clusters.ts";
import type { Database } from "../postgres/database.ts";
import { assertMigrated } from "../postgres/migrate.ts";
import { print } from "./command.ts";
import { connectClusters, connectDatabase, type Workload } from "./connect.ts";
import { explainFault } from "./database.ts";
import { loggerOf, watchForEnd } from "./end.ts";
import { orAborted } from "./interruption.ts";
import { createProgress } from "./progress.ts";
import { assertOperatorHost } from "./service.ts";

export type DeployedOptions = {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly workload: Workload;
};

export type DeployedParts = {
  readonly config: Config;
  readonly database: Database;
  readonly clusters: Clusters;
  readonly logger: Logger;
};

export type RunningPart = {
  /** Line that is printed when the part runs. */
  readonly readyLine: string;
  /** Stops in an orderly way, or at once when `hurry` settles. */
  stop(hurry: Promise<void>): Promise<void>;
};

/** Runs a part until the process is told to stop; returns the exit code. */
export async function runDeployed(
  { config, databaseUrl, workload }: DeployedOptions,
  start: (parts: DeployedParts) => Promise<RunningPart>,
): Promise<number> {
  const logger = loggerOf(config);
  const end = watchForEnd(logger);
  const progress = createProgress();
  const { signal } = end;
  let database: Database | undefined;
  let clusters: Clusters | undefined;
  try {
    await assertOperatorHost(config);
    const options = { workload, progress, signal };
    database = await connectDatabase(databaseUrl, config, options);
    await orAborted(assertMigrated(database), signal).catch(explainFault);
    clusters = await connectClusters(database, config, {
      ...options,
      prepare: assertMigrated,
      logger,
    });
    const running = await start({ config, database, clusters, logger });
    progress.done();
    print(running.readyLine);
    const code = await end.code;
    await running.stop(end.hurry);
    return code;
  } catch (error) {
    // An interrupted start is not a failure.
    if (error === signal.reason) return await end.code;
    throw error;
  } finally {
    progress.done();
    await clusters?.close();
    await database?.close();
  }
}
