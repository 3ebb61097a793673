// `waggle serve`: the service alone, on a database that DATABASE_URL names and `waggle migrate` has
// prepared; as many processes as needed. Called by main.ts.

import { OperatorError } from "../base/operator-error.ts";
import type { Clusters } from "../postgres/clusters.ts";
import type { Database } from "../postgres/database.ts";
import { assertMigrated } from "../postgres/migrate.ts";
import { print } from "./command.ts";
import type { CommandContext } from "./command.ts";
import { orAborted } from "./interruption.ts";
import { createProgress } from "./progress.ts";
import {
  connectClusters,
  connectDatabase,
  loggerOf,
  startService,
  watchForEnd,
} from "./service.ts";

export async function runServe({ config }: CommandContext): Promise<number> {
  if (config.databaseUrl === undefined) {
    throw new OperatorError(
      "serve needs DATABASE_URL; for everything on one machine: waggle start",
    );
  }
  const logger = loggerOf(config);
  const end = watchForEnd(logger);
  const progress = createProgress();
  const { signal } = end;
  let database: Database | undefined;
  let clusters: Clusters | undefined;
  try {
    database = await connectDatabase(config.databaseUrl, config, { progress, signal });
    await orAborted(assertMigrated(database), signal);
    clusters = await connectClusters(database, config, {
      prepare: assertMigrated,
      logger,
      progress,
      signal,
    });
    const service = await startService(config, { database, clusters, logger });
    progress.done();
    print(`waggle is ready on ${service.url}`);
    const code = await end.code;
    await service.stop(end.hurry);
    return code;
  } catch (error) {
    // Cut off while starting, which is no failure.
    if (error === signal.reason) return await end.code;
    throw error;
  } finally {
    progress.done();
    await clusters?.close();
    await database?.close();
  }
}
