// The transport alone, with hand-written keys and services, for tests of protocols and limits
// without a database.

import type { ServiceImpl } from "@connectrpc/connect";
import { EventService } from "../../gen/waggle/v1/event_pb.js";
import { ExportService } from "../../gen/waggle/v1/export_pb.js";
import type { KeyKind, Principal } from "../../src/access/principal.ts";
import { ServiceError } from "../../src/base/errors.ts";
import type { ProjectId } from "../../src/base/ids.ts";
import { bodyBytesMaxDefault } from "../../src/base/limits.ts";
import { createLogger } from "../../src/base/logger.ts";
import { createTransport, type TransportOptions } from "../../src/transport/transport.ts";

/** Returns the bearer value of the test transport's key of a kind. */
export const keyOf = (kind: KeyKind): string => `Bearer ${kind}`;

/** Bearer value that the test transport cannot verify. */
export const unverifiableKey = "Bearer unverifiable";

/** Returns the principal of a project's key. */
export function aKeyPrincipal(keyKind: KeyKind, projectId = "project"): Principal {
  return {
    kind: keyKind,
    actor: { type: "key", id: `key-${keyKind}`, name: keyKind },
    root: {
      level: "project",
      id: projectId,
      name: "demo",
      orgId: "org",
      dataplaneId: "dataplane",
      workspaceId: "workspace",
      projectId: projectId as ProjectId,
      clusterId: "default",
    },
    grants: [],
    policy: ["*"],
    mayCreateKeys: true,
    expiresAtMs: undefined,
  };
}

/** Bearer value of the key of another project in the same organization. */
export const otherProjectKey = "Bearer other-project";

const principals = new Map([
  ...(["project", "project_read_only", "ingestion"] as const).map(
    (kind) => [keyOf(kind), aKeyPrincipal(kind)] as const,
  ),
  [otherProjectKey, aKeyPrincipal("project", "other")] as const,
]);

/** Returns event rpcs that answer without storing anything; a test may replace single rpcs. */
function eventsThatAnswer(
  rpcs: Partial<ServiceImpl<typeof EventService>> = {},
): ServiceImpl<typeof EventService> {
  return {
    createEvent: ({ event }) => ({ eventId: event?.eventId ?? "made", success: true }),
    createEventBatch: ({ events }) => ({
      eventIds: events.map((event) => event.eventId ?? ""),
      success: true,
    }),
    enrichEvent: ({ eventId }) => ({ eventId, success: true }),
    updateEvent: ({ eventId }) => ({ eventId, success: true }),
    getEvent: ({ eventId }) => ({ event: { eventId, inputs: { text: "x".repeat(5_000) } } }),
    deleteEvent: ({ eventId }) => ({ success: true, deleted: eventId }),
    ...rpcs,
  };
}

export type StreamEvents = ServiceImpl<typeof ExportService>["streamEvents"];

export type TestTransport = { readonly url: string; stop(left?: Promise<void>): Promise<void> };

export async function startTransport(
  options: Partial<TransportOptions> & {
    events?: Partial<ServiceImpl<typeof EventService>>;
    streamEvents?: StreamEvents;
  } = {},
): Promise<TestTransport> {
  const { events, streamEvents, ...rest } = options;
  const server = createTransport({
    services: (router) => {
      router.service(EventService, eventsThatAnswer(events));
      const exports = { ...(streamEvents && { streamEvents }) };
      router.service(ExportService, exports as ServiceImpl<typeof ExportService>);
    },
    authenticate: ({ authorization }) => {
      const found = principals.get(authorization ?? "");
      if (found) return Promise.resolve(found);
      const reason = authorization === unverifiableKey ? "KEY_UNVERIFIABLE" : "NOT_FOUND";
      return Promise.reject(new ServiceError(reason, "no such key"));
    },
    isAssignmentAutomatic: true,
    findScope: () => Promise.resolve(undefined),
    findAnyScope: () => Promise.resolve(undefined),
    idempotencyOf: () => ({
      run: (_claim, work) => work(),
      runLong: (_claim, _claimMs, work) => work((effect) => effect()),
    }),
    readiness: () => Promise.resolve({ ready: true, missing: [], degraded: [] }),
    findDatabaseFault: () => undefined,
    observe: () => undefined,
    logger: createLogger("silent"),
    version: "0.0.0",
    streamEncoders: [],
    corsOrigins: [],
    bodyLimits: bodyBytesMaxDefault,
    bytesInFlightMax: 256 * 1_048_576,
    bodyStallMs: 10_000,
    drainTimeoutMs: 1_000,
    unaryTimeoutMs: 10_000,
    ingestionTimeoutMs: 10_000,
    generationTimeoutMs: 10_000,
    isTracing: false,
    ...rest,
  });
  const { url } = await server.listen({ host: "127.0.0.1", port: 0 });
  return { url, stop: (left) => server.close(left) };
}
