// The worker: everything that runs workflows, in a separate process or next to the service.

import { inBackground } from "../base/background.ts";
import { findProject } from "../controlplane/scopes/scopes.ts";
import { createEvaluationWork } from "../evaluation/evaluation.ts";
import { createReadiness, type Readiness } from "../observability/readiness.ts";
import { createRelay } from "../outbox/relay.ts";
import { getMigrationState } from "../postgres/migrate.ts";
import { createAlertChecks } from "../tracing/alerts/evaluate.ts";
import { createDeletion } from "../tracing/retention/deletion.ts";
import { createFileStore } from "../tracing/retention/file-store.ts";
import { createEventArchive } from "../tracing/archive/archive.ts";
import { createActivities } from "../workflows/activities.ts";
import { createWorkflowClient, type TemporalTarget } from "../workflows/client.ts";
import { startWorker } from "../workflows/worker.ts";
import type { Core } from "./core.ts";

export type WorkerApp = {
  /** Names what the work waits for: the database, migrations or Temporal. */
  readonly readiness: () => Promise<Readiness>;
  /** Stops the relay and the worker; their unfinished work is resumed later or by others. */
  stop(): Promise<void>;
};

/** Starts the relay and the worker. Temporal may become available later. */
export async function startWorkerApp(core: Core, target: TemporalTarget): Promise<WorkerApp> {
  const { config, clusters, database, logger, metrics, scopes, generation, controlplane } = core;
  const client = await createWorkflowClient(target);
  const work = createEvaluationWork({
    ...core,
    ...generation,
    client,
    onScores: (scores) => metrics.addScores(scores),
  });
  const ofProjects = {
    ...core,
    findProject: (projectId: string) => findProject(scopes, projectId),
  };
  const { retentionExport, retentionS3Endpoint } = config;
  const activities = createActivities({
    ...core,
    ...work,
    archives: controlplane.archives,
    eventArchive: createEventArchive((clusterId) => clusters.database(clusterId)),
    client,
    notifications: {
      async attempt(input) {
        const delivery = await core.notifications.attempt(input);
        metrics.addDelivery(delivery.kind);
        return delivery;
      },
    },
    alertChecks: createAlertChecks(ofProjects),
    deletion: createDeletion({
      ...ofProjects,
      files: retentionExport && createFileStore(retentionExport, retentionS3Endpoint),
    }),
  });
  const { missedNotices } = generation;
  const relay = createRelay({ ...core, client });
  const { isTracing } = config;
  const worker = startWorker({
    target,
    client,
    activities,
    logger,
    isTracing,
    onActivity: (activity, result) => metrics.addActivity(activity, result),
  });
  metrics.watchWorkflows(() => worker.isRunning());
  inBackground(() => {
    relay.follow();
    missedNotices.follow();
    work.follow();
  });
  const databases = createReadiness({
    readMigrations: () => getMigrationState(database),
    clusters,
  });
  return {
    async readiness() {
      const { missing, degraded } = await databases();
      const all = worker.isRunning() ? missing : [...missing, "Temporal"];
      return { ready: all.length === 0, missing: all, degraded };
    },
    async stop() {
      await Promise.all([relay.stop(), missedNotices.stop(), work.stop(), worker.stop()]);
      await client.close();
    },
  };
}
