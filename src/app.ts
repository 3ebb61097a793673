// The composition root: stores behind services, services behind the transport; no logic. A new
// service is one line in `services`. Called by commands/service.ts and test/support/service.ts.

import { readFileSync } from "node:fs";
import { AuditService } from "../gen/waggle/v1/audit_pb.js";
import { EventService } from "../gen/waggle/v1/event_pb.js";
import { ExportService, StreamEventsResponseSchema } from "../gen/waggle/v1/export_pb.js";
import { SessionService } from "../gen/waggle/v1/session_pb.js";
import { TracingService } from "../gen/waggle/compat/v0/tracing_pb.js";
import { TraceService } from "../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { createAudit } from "./access/audit/audit.ts";
import { auditHandlers } from "./access/audit/handlers.ts";
import { createAuthenticator } from "./access/authenticate.ts";
import { createIdempotency } from "./access/idempotency/idempotency.ts";
import { createKeys } from "./access/keys/keys.ts";
import { isProject } from "./access/scope.ts";
import type { Logger } from "./base/logger.ts";
import type { Config } from "./config.ts";
import { createScopes } from "./controlplane/scopes/scopes.ts";
import type { Metrics } from "./operator/metrics.ts";
import { getReadiness } from "./operator/readiness.ts";
import type { Clusters } from "./postgres/clusters.ts";
import type { Database } from "./postgres/database.ts";
import { findDatabaseFault } from "./postgres/faults.ts";
import { eventHandlers } from "./tracing/events/handlers.ts";
import { exportHandlers } from "./tracing/export/handlers.ts";
import { encodeParquet, parquetContentType } from "./tracing/export/parquet.ts";
import { tracingHandlers } from "./tracing/model-events/handlers.ts";
import { sessionHandlers } from "./tracing/sessions/handlers.ts";
import { createTracing } from "./tracing/tracing.ts";
import { traceHandlers } from "./transport/otlp/handlers.ts";
import { streamEncoder } from "./transport/rest/stream.ts";
import { createTransport } from "./transport/transport.ts";

export type AppOptions = {
  readonly config: Config;
  /** The control database: everything but events. */
  readonly database: Database;
  /** Where events are. */
  readonly clusters: Clusters;
  readonly logger: Logger;
  readonly metrics: Metrics;
};

export type App = {
  listen(): Promise<{ url: string }>;
  /** Refuses new work, ends the running requests within the drain time, and stores what waits. */
  close(): Promise<void>;
};

/** Longest time of a call that is no stream; a client may set a shorter one. */
const unaryTimeoutMs = 120_000;
/** Longest time of a call that writes events. */
const ingestionTimeoutMs = 30_000;

export function createApp(options: AppOptions): Promise<App> {
  const { config, database, clusters, logger, metrics } = options;
  const keys = createKeys({
    database,
    cacheEntriesMax: config.keyCacheEntriesMax,
    cacheAgeMs: config.keyCacheAgeMs,
  });
  keys.follow();
  const scopes = createScopes(database);
  const audit = createAudit(database);
  const idempotency = createIdempotency(database);
  const tracing = createTracing({
    clusters,
    onStored: (events) => metrics.addStoredEvents(events),
  });
  metrics.watchQueue(() => tracing.queueSize());

  const server = createTransport({
    services: (router) => {
      router.service(EventService, eventHandlers(tracing.of));
      router.service(SessionService, sessionHandlers(tracing.of));
      router.service(ExportService, exportHandlers(tracing.of));
      router.service(TracingService, tracingHandlers(tracing.of));
      router.service(TraceService, traceHandlers(tracing.of));
      router.service(AuditService, auditHandlers(audit));
    },
    authenticate: createAuthenticator({ keys }),
    findScope: (level, id) => scopes.find(level, id),
    idempotencyOf: (scope, isProjectData) =>
      isProjectData && isProject(scope) ? tracing.of(scope).idempotency : idempotency,
    readiness: () => getReadiness(database, clusters),
    findDatabaseFault,
    observe: ({ rpc, protocol, reason, ms }) => {
      metrics.observeRequest({ rpc, protocol, outcome: reason, durationMs: ms });
    },
    logger,
    version: packageVersion(),
    streamEncoders: [streamEncoder(parquetContentType, StreamEventsResponseSchema, encodeParquet)],
    corsOrigins: config.corsOrigins,
    bodyLimits: config.bodyBytesMax,
    bytesInFlightMax: config.bytesInFlightMax,
    bodyStallMs: config.bodyTimeoutMs,
    drainTimeoutMs: config.drainTimeoutMs,
    unaryTimeoutMs,
    ingestionTimeoutMs,
    isTracing: config.isTracing,
  });
  return Promise.resolve({
    listen: () => server.listen({ host: config.host, port: config.port }),
    async close() {
      await server.close();
      await tracing.drain();
    },
  });
}

function packageVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
