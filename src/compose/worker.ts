// The worker: everything that runs workflows, in a separate process or next to the service.

import type { Logger } from "../base/logger.ts";
import type { Config } from "../config.ts";
import { createCore, noCallers } from "./core.ts";
import { findProject } from "../controlplane/scopes/scopes.ts";
import { createEvaluationWork } from "../evaluation/evaluation.ts";
import type { PythonSandbox } from "../evaluation/runner/python/sandbox.ts";
import type { Metrics } from "../observability/metrics.ts";
import { createRelay } from "../outbox/relay.ts";
import type { Clusters } from "../postgres/clusters.ts";
import type { Database } from "../postgres/database.ts";
import { createAlertChecks } from "../tracing/alerts/evaluate.ts";
import { createDeletion } from "../tracing/retention/deletion.ts";
import { createFileStore } from "../tracing/retention/file-store.ts";
import { createEventArchive } from "../tracing/archive/archive.ts";
import { createActivities } from "../workflows/activities.ts";
import { createWorkflowClient } from "../workflows/client.ts";
import type { TemporalTarget } from "../workflows/client.ts";
import { startWorker } from "../workflows/worker.ts";

export type WorkerAppOptions = {
  readonly config: Config;
  readonly target: TemporalTarget;
  /** Control database. */
  readonly database: Database;
  /** Databases of events. */
  readonly clusters: Clusters;
  readonly logger: Logger;
  readonly sandbox: PythonSandbox;
  readonly metrics: Metrics;
};

export type WorkerApp = {
  /** Stops the relay and the worker; their unfinished work is resumed later or by others. */
  stop(): Promise<void>;
};

/** Starts the relay and the worker. Temporal may become available later. */
export async function startWorkerApp(options: WorkerAppOptions): Promise<WorkerApp> {
  const { config, target, database, clusters, logger, sandbox, metrics } = options;
  const client = await createWorkflowClient(target);
  const core = await createCore({ ...options, ...noCallers });
  const { changes, controlplane, keys, scopes, tracing, generation, evaluation } = core;
  const { archives } = controlplane;
  const eventArchive = createEventArchive((clusterId) => clusters.database(clusterId));
  metrics.watchEvaluation(() => evaluation.stats());
  const work = createEvaluationWork({
    ...core,
    config,
    database,
    clusters,
    sandbox,
    client,
    logger,
    onScores: (scores) => metrics.addScores(scores),
    tracingOf: tracing.of,
    configuredCalls: generation.configuredCalls,
  });
  const { chunks, backfillRuns, executionRuns } = work;
  const alertChecks = createAlertChecks({
    ...core,
    database,
    tracingOf: tracing.of,
    findProject: (projectId) => findProject(scopes, projectId),
  });
  const deletion = createDeletion({
    ...core,
    database,
    clusters,
    tracingOf: tracing.of,
    findProject: (projectId) => findProject(scopes, projectId),
    files:
      config.retentionExport && createFileStore(config.retentionExport, config.retentionS3Endpoint),
  });
  const activities = createActivities({
    archives,
    keys,
    scopes,
    changes,
    eventArchive,
    client,
    chunks,
    backfillRuns,
    executionRuns,
    alertChecks,
    deletion,
    notifications: core.notifications,
  });
  const relay = createRelay({ database, client, logger });
  const worker = startWorker({ target, client, activities, logger });
  changes.follow();
  relay.follow();
  work.follow();
  return {
    async stop() {
      await Promise.all([relay.stop(), work.stop(), worker.stop()]);
      await generation.close();
      await tracing.drain();
      await changes.stop();
      await client.close();
    },
  };
}
