// The object graph of a process, without logic: stores behind services, in the order of the
// modules. The service, the worker and the command line take their services from here.

import { createAudit } from "../access/audit/audit.ts";
import { createEncryptionKeys } from "../access/encryption-keys.ts";
import { createAccessChanges } from "../access/changes/changes.ts";
import { createKeyPolicies } from "../access/key-policies/key-policies.ts";
import { createKeys } from "../access/keys/keys.ts";
import { createPeople } from "../access/people.ts";
import { loadManifest } from "../access/roles/manifest.ts";
import { createAddressGuard } from "../base/address-guard.ts";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config.ts";
import { createControlplane } from "../controlplane/controlplane.ts";
import { createScopes } from "../controlplane/scopes/scopes.ts";
import { createEvaluation } from "../evaluation/evaluation.ts";
import type { PythonSandbox } from "../evaluation/runner/python/sandbox.ts";
import { createGeneration } from "../generation/generation.ts";
import { createEstimateCost } from "../generation/prices/event-usage.ts";
import { createPrices } from "../generation/prices/prices.ts";
import { createNotifications } from "../notifications/notifications.ts";
import { createOutbox } from "../outbox/outbox.ts";
import type { Clusters } from "../postgres/clusters.ts";
import type { Database } from "../postgres/database.ts";
import { createAlerts } from "../tracing/alerts/alerts.ts";
import { createRetention } from "../tracing/retention/retention.ts";
import { createStoredCharts } from "../tracing/charts/stored-charts.ts";
import { createTracing } from "../tracing/tracing.ts";

/** Cache of keys and sign-ins; no entries for a process without callers. */
export type CallerCache = { readonly cacheEntriesMax: number; readonly cacheAgeMs: number };

/** Disables the cache of callers. */
export const noCallers: CallerCache = { cacheEntriesMax: 0, cacheAgeMs: 0 };

export type KeyOptions = CallerCache & {
  readonly database: Database;
  /** Time between two looks for ended keys, and the logger of their failures. */
  readonly follow?: { readonly pollMs: number; readonly logger: Logger };
  /** Called with the id of each key that is used. */
  readonly onUsed?: (keyId: string) => void;
};

/** Creates the keys of a database, with the services that they need. */
export function createKeyServices({ database, follow, onUsed, ...cache }: KeyOptions) {
  const audit = createAudit(database);
  const changes = createAccessChanges({ database, ...follow });
  const scopes = createScopes(database);
  const outbox = createOutbox(database);
  const policies = createKeyPolicies({ database, changes, audit, scopes });
  const keys = createKeys({
    database,
    changes,
    audit,
    outbox,
    scopes,
    policies,
    ...cache,
    ...(onUsed && { onUsed }),
  });
  return { audit, changes, scopes, outbox, policies, keys };
}

export type CoreOptions = Omit<KeyOptions, "database" | "follow"> & {
  readonly config: Config;
  /** Control database: all data except events. */
  readonly database: Database;
  /** Databases of events. */
  readonly clusters: Clusters;
  readonly logger: Logger;
  /** Runs the code of evaluators. */
  readonly sandbox: PythonSandbox;
  /** Called with the number of events that are stored or changed. */
  readonly onStored?: (events: number) => void;
};

export type Core = Awaited<ReturnType<typeof createCore>>;

/** Creates every service of a process. */
export async function createCore(options: CoreOptions) {
  const { config, database, clusters, logger, sandbox, onStored, onUsed } = options;
  const cache = { cacheEntriesMax: options.cacheEntriesMax, cacheAgeMs: options.cacheAgeMs };
  const manifest = await loadManifest(config.rolesManifest);
  const access = createKeyServices({
    database,
    follow: { pollMs: config.accessPollMs, logger },
    ...cache,
    ...(onUsed && { onUsed }),
  });
  const people = createPeople({
    database,
    manifest,
    audit: access.audit,
    changes: access.changes,
    publicOrigin: config.publicUrl,
    ...cache,
  });
  const controlplane = createControlplane({
    ...access,
    database,
    clusters,
    members: people.members,
    assignment: config.dataplaneAssignment,
  });
  const prices = createPrices();
  const tracing = createTracing({
    clusters,
    logger,
    estimateCost: createEstimateCost(prices),
    ...(onStored && { onStored }),
  });
  const notifications = createNotifications({
    ...{ database, outbox: access.outbox, members: people.members },
    keys: createEncryptionKeys(config.encryptionKeys),
    addressGuard: createAddressGuard({ privateHosts: config.webhookPrivateHosts }),
    mail: config.smtpUrl === undefined ? undefined : { url: config.smtpUrl, from: config.smtpFrom },
  });
  const generation = createGeneration({
    ...access,
    config,
    database,
    clusters,
    notifications,
    prices,
    logger,
    tracingOf: tracing.of,
  });
  const evaluation = createEvaluation({
    ...access,
    config,
    database,
    clusters,
    sandbox,
    tracingOf: tracing.of,
    judgeCalls: generation.judgeCalls,
    configurations: generation.configurations,
    configuredCalls: generation.configuredCalls,
  });
  tracing.listen(evaluation.listener);
  const charts = createStoredCharts({ ...access, database });
  const alerts = createAlerts({ ...access, database, notifications, tracingOf: tracing.of });
  const retention = createRetention({ ...access, database, clusters });
  return {
    ...access,
    ...{ manifest, people, controlplane, tracing, charts, notifications, alerts, retention },
    ...{ generation, evaluation },
  };
}
