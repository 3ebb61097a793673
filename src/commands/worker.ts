// `waggle worker`: runs workflows and starts those that wait in the outbox; serves no requests. As
// many processes as needed, on DATABASE_URL and TEMPORAL_ADDRESS. Called by main.ts.

import { OperatorError } from "../base/operator-error.ts";
import type { Clusters } from "../postgres/clusters.ts";
import type { Database } from "../postgres/database.ts";
import { assertMigrated } from "../postgres/migrate.ts";
import { print } from "./command.ts";
import type { CommandContext } from "./command.ts";
import { orAborted } from "./interruption.ts";
import { createProgress } from "./progress.ts";
import { connectClusters, connectDatabase, loggerOf, watchForEnd } from "./service.ts";

export async function runWorker({ config }: CommandContext): Promise<number> {
  const { databaseUrl, temporal } = config;
  const { address } = temporal;
  if (databaseUrl === undefined || address === undefined) {
    throw new OperatorError(
      "worker needs DATABASE_URL and TEMPORAL_ADDRESS; for everything on one machine: waggle start",
    );
  }
  const logger = loggerOf(config);
  const end = watchForEnd(logger);
  const progress = createProgress();
  const { signal } = end;
  let database: Database | undefined;
  let clusters: Clusters | undefined;
  try {
    database = await connectDatabase(databaseUrl, config, { progress, signal });
    await orAborted(assertMigrated(database), signal);
    const options = { prepare: assertMigrated, logger, progress, signal };
    clusters = await connectClusters(database, config, options);
    // Loaded here: the other commands do without Temporal's part, which is large.
    const { startWorkerApp } = await import("../worker-app.ts");
    const target = { ...temporal, address };
    const worker = await startWorkerApp({ target, database, clusters, logger });
    progress.done();
    print(`waggle works on the workflows of ${address}, namespace ${temporal.namespace}`);
    const code = await end.code;
    await Promise.race([worker.stop(), end.hurry]);
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
