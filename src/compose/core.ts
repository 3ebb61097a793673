// The object graph of a process, without logic: stores behind services, in the order of the
// modules. The service and the worker of one process share it.

import { createArchiveLog } from "../access/audit/archive-log.ts";
import { createEncryptionKeys } from "../access/encryption-keys.ts";
import { createLastUsed } from "../access/keys/last-used.ts";
import { createPeople } from "../access/people.ts";
import { loadManifest } from "../access/roles/manifest.ts";
import { createAddressGuard } from "../base/address-guard.ts";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config.ts";
import { createArchivals } from "../controlplane/archivals/archivals.ts";
import { createTemporalPage } from "../controlplane/deployment/temporal-page.ts";
import { createControlplane } from "../controlplane/controlplane.ts";
import { createEvaluation } from "../evaluation/evaluation.ts";
import type { PythonSandbox } from "../evaluation/runner/python/sandbox.ts";
import { createGeneration } from "../generation/generation.ts";
import { createModelPrices } from "../generation/model-prices/model-prices.ts";
import { createNotifications } from "../notifications/notifications.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Clusters } from "../postgres/clusters.ts";
import type { Database } from "../postgres/database.ts";
import { createArchiveReads } from "../tracing/archive/archive-reads.ts";
import { createAlerts } from "../tracing/alerts/alerts.ts";
import { createIngestion } from "../tracing/ingestion/ingestion.ts";
import { createRetention } from "../tracing/retention/retention.ts";
import { createStoredCharts } from "../tracing/charts/stored-charts.ts";
import { createDashboards } from "../tracing/dashboards/dashboards.ts";
import { createMasking } from "../tracing/masking/masking.ts";
import { createTracing } from "../tracing/tracing.ts";
import { createViews } from "../tracing/views/views.ts";
import { createKeyServices } from "./keys.ts";

export type CoreOptions = {
  readonly config: Config;
  /** Control database: all data except events. */
  readonly database: Database;
  /** Databases of events. */
  readonly clusters: Clusters;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Runs the code of evaluators. */
  readonly sandbox: PythonSandbox;
};

export type Core = Awaited<ReturnType<typeof createCore>>;

/**
 * Creates every service of a process, once, with what they are made of, and begins to follow the
 * changes of access.
 */
export async function createCore(options: CoreOptions) {
  const { config, clusters, logger, metrics } = options;
  // Separate connections, so that key lookups wait neither for commits nor for reads of events.
  const database = options.database.on("callers");
  const cache = { cacheEntriesMax: config.keyCacheEntriesMax, cacheAgeMs: config.keyCacheAgeMs };
  const manifest = await loadManifest(config.rolesManifest);
  const lastUsed = createLastUsed({ database });
  const access = createKeyServices({
    database,
    follow: { pollMs: config.accessPollMs, logger },
    ...cache,
    onUsed: (keyId) => lastUsed.note(keyId),
  });
  const people = createPeople({
    database,
    manifest,
    audit: access.audit,
    changes: access.changes,
    publicOrigin: config.publicUrl,
    ...cache,
  });
  const { members } = people;
  const given = { ...options, ...access, database, members };
  const controlplane = createControlplane({ ...given, assignment: config.dataplaneAssignment });
  const temporalPage = createTemporalPage(config.temporal);
  const modelPrices = createModelPrices({ ...given, operator: config.prices });
  const masking = createMasking(given);
  const ingestion = createIngestion({ ...given, maskOf: masking.maskOf });
  const tracing = createTracing({
    clusters,
    logger,
    maskOf: masking.maskOf,
    pricingOf: async (projectId) => (await modelPrices.of(projectId)).pricing,
    onStored: (events) => metrics.addStoredEvents(events),
  });
  const tracingOf = tracing.of;
  const notifications = createNotifications({
    ...given,
    keys: createEncryptionKeys(config.encryptionKeys),
    addressGuard: createAddressGuard({ privateHosts: config.webhookPrivateHosts }),
    mail: config.smtpUrl === undefined ? undefined : { url: config.smtpUrl, from: config.smtpFrom },
  });
  const generation = createGeneration({ ...given, notifications, modelPrices, tracingOf });
  const evaluation = createEvaluation({ ...given, ...generation, tracingOf });
  tracing.listen(evaluation.listener);
  metrics.watchQueue(() => tracing.queueSize());
  metrics.watchEvaluation(() => evaluation.stats());
  access.changes.follow();
  return {
    ...given,
    manifest,
    people,
    controlplane,
    temporalPage,
    archivals: createArchivals({
      ...given,
      temporalPage,
      archiveLog: createArchiveLog(database),
      archiveReads: createArchiveReads((clusterId) => clusters.database(clusterId)),
    }),
    masking,
    ingestion,
    modelPrices,
    tracing,
    tracingOf,
    notifications,
    generation,
    evaluation,
    charts: createStoredCharts(given),
    views: createViews(given),
    dashboards: createDashboards(given),
    alerts: createAlerts({ ...given, notifications, tracingOf }),
    retention: createRetention(given),
    /** Waits for running generations and queued writes. Call it after transport and worker. */
    async close(): Promise<void> {
      await generation.close();
      await tracing.drain();
      await lastUsed.stop();
      await ingestion.stop();
      await access.changes.stop();
    },
  };
}
