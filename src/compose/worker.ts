// The other composition root: everything that runs workflows, in a separate process or next to the
// service.

import { createAudit } from "../access/audit/audit.ts";
import { createAccessChanges } from "../access/changes/changes.ts";
import { createKeyPolicies } from "../access/key-policies/key-policies.ts";
import { createKeys } from "../access/keys/keys.ts";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config.ts";
import { createArchives } from "../controlplane/scopes/archive.ts";
import { createScopes } from "../controlplane/scopes/scopes.ts";
import { createEvaluation, createEvaluationWork } from "../evaluation/evaluation.ts";
import type { PythonSandbox } from "../evaluation/runner/python/sandbox.ts";
import { createGeneration } from "../generation/generation.ts";
import { createEstimateCost } from "../generation/prices/event-usage.ts";
import { createPrices } from "../generation/prices/prices.ts";
import type { Metrics } from "../observability/metrics.ts";
import { createOutbox } from "../outbox/outbox.ts";
import { createRelay } from "../outbox/relay.ts";
import type { Clusters } from "../postgres/clusters.ts";
import type { Database } from "../postgres/database.ts";
import { createEventArchive } from "../tracing/archive/archive.ts";
import { createTracing } from "../tracing/tracing.ts";
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
  const audit = createAudit(database);
  const changes = createAccessChanges({ database, pollMs: config.accessPollMs, logger });
  const outbox = createOutbox(database);
  const scopes = createScopes(database);
  const policies = createKeyPolicies({ database, changes, audit, scopes });
  const keys = createKeys({
    ...{ database, changes, audit, outbox, scopes, policies },
    // A worker has no callers, so no cache is needed.
    cacheEntriesMax: 0,
    cacheAgeMs: 0,
  });
  const archives = createArchives({ database, audit, changes, outbox });
  const eventArchive = createEventArchive((clusterId) => clusters.database(clusterId));
  const prices = createPrices();
  const evaluating = { config, database, clusters, scopes, audit, changes, outbox, sandbox };
  const tracing = createTracing({ clusters, estimateCost: createEstimateCost(prices) });
  const generation = createGeneration({
    ...{ config, database, scopes, audit, changes, prices, logger },
    tracingOf: tracing.of,
  });
  const evaluation = createEvaluation({
    ...{ ...evaluating, tracingOf: tracing.of },
    judgeCalls: generation.judgeCalls,
  });
  const work = createEvaluationWork({
    ...{ ...evaluating, tracingOf: tracing.of },
    evaluation,
    client,
    logger,
    onScores: (scores) => metrics.addScores(scores),
  });
  metrics.watchEvaluation(() => evaluation.stats());
  const { chunks, backfillRuns } = work;
  const activities = createActivities({
    ...{ archives, keys, scopes, changes, eventArchive, client },
    ...{ chunks, backfillRuns },
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
