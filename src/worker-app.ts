// The other composition root: what runs workflows, in a process of its own or beside the service.
// Called by commands/worker.ts, commands/workflows.ts and tests.

import { createAudit } from "./access/audit/audit.ts";
import { createAccessChanges } from "./access/changes/changes.ts";
import { createKeyPolicies } from "./access/key-policies/key-policies.ts";
import { createKeys } from "./access/keys/keys.ts";
import type { Logger } from "./base/logger.ts";
import type { Config } from "./config.ts";
import { createArchives } from "./controlplane/scopes/archive.ts";
import { createScopes } from "./controlplane/scopes/scopes.ts";
import type { PythonSandbox } from "./evaluation/runner/python/sandbox.ts";
import type { Metrics } from "./operator/metrics.ts";
import { createOutbox } from "./outbox/outbox.ts";
import { createRelay } from "./outbox/relay.ts";
import type { Clusters } from "./postgres/clusters.ts";
import type { Database } from "./postgres/database.ts";
import { createEventArchive } from "./tracing/archive/archive.ts";
import { createActivities } from "./workflows/activities.ts";
import { createWorkflowClient } from "./workflows/client.ts";
import type { TemporalTarget } from "./workflows/client.ts";
import { startWorker } from "./workflows/worker.ts";

export type WorkerAppOptions = {
  readonly config: Config;
  readonly target: TemporalTarget;
  /** The control database. */
  readonly database: Database;
  /** Where events are. */
  readonly clusters: Clusters;
  readonly logger: Logger;
  readonly sandbox: PythonSandbox;
  readonly metrics: Metrics;
};

export type WorkerApp = {
  /** Ends the relay and the worker; what they were at is taken up by others, or later. */
  stop(): Promise<void>;
};

/** Starts the relay and the worker. Temporal may come later: nothing waits for it. */
export async function startWorkerApp(options: WorkerAppOptions): Promise<WorkerApp> {
  const { target, database, clusters, logger } = options;
  const client = await createWorkflowClient(target);
  const audit = createAudit(database);
  const changes = createAccessChanges({ database });
  const outbox = createOutbox(database);
  const scopes = createScopes(database);
  const policies = createKeyPolicies({ database, changes, audit, scopes });
  const keys = createKeys({
    ...{ database, changes, audit, outbox, scopes, policies },
    // Nobody calls a worker.
    cacheEntriesMax: 0,
    cacheAgeMs: 0,
  });
  const archives = createArchives({ database, audit, changes, outbox });
  const eventArchive = createEventArchive((clusterId) => clusters.database(clusterId));
  const activities = createActivities({ archives, keys, scopes, changes, eventArchive, client });
  const relay = createRelay({ database, client, logger });
  const worker = startWorker({ target, client, activities, logger });
  relay.follow();
  return {
    async stop() {
      await Promise.all([relay.stop(), worker.stop()]);
      await client.close();
    },
  };
}
