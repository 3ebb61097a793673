// A project's data are in the cluster of its data plane and nowhere else, and a cluster that is
// away takes only its own projects with it. Source: docs/decisions.md, 30.

import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, describe, expect, test, vi } from "vitest";
import { SessionService } from "../../gen/waggle/v1/session_pb.js";
import { createUuid } from "../../src/base/ids.ts";
import type { Database } from "../../src/postgres/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { startProxy } from "../support/proxy.ts";
import { startService } from "../support/service.ts";

const europe = await createTestDatabase();
afterAll(() => europe.drop());
const proxy = await startProxy(europe.url);

// The service has to start without the cluster.
await proxy.shut();
const service = await startService({ clusters: JSON.stringify({ eu: proxy.url }) });
/** The key of a project on the cluster `eu`; the service's own project is on `default`. */
const { orgId, projectKey: europeanKey } = service.otherProject;
await service.database.sql()`
  update dataplanes set cluster_id = 'eu' where org_id = ${orgId}`;

afterAll(async () => {
  await service.stop();
  await proxy.shut();
});

async function call(key: string, method: string, path: string, body?: unknown, headers = {}) {
  const response = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    text: await response.text(),
  };
}

async function readiness() {
  const response = await fetch(`${service.url}/readyz`);
  return { status: response.status, body: await response.json() };
}

const tables = ["events", "session_totals", "event_fields", "idempotency_records"] as const;

/** Rows of each table that holds what projects send. */
async function countRows(database: Database): Promise<Record<string, number>> {
  const counts = await Promise.all(
    tables.map(async (table) => {
      const sql = database.sql();
      const [row] = await sql<
        { count: number }[]
      >`select count(*)::int as count from ${sql(table)}`;
      return [table, row?.count ?? 0] as const;
    }),
  );
  return Object.fromEntries(counts);
}

function anEvent(fields: Record<string, unknown> = {}) {
  return { event_type: "tool", source: "test", inputs: { a: 1 }, ...fields };
}

function aSpan() {
  const hex = (length: number) => createUuid().replaceAll("-", "").slice(-length);
  const span = {
    traceId: hex(32),
    spanId: hex(16),
    name: "span",
    startTimeUnixNano: "1700000000000000000",
    endTimeUnixNano: "1700000001000000000",
  };
  return { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
}

function aModelCall() {
  const call = { provider: "p", model: "m", messages: [], response: {} };
  return { project: "x", ...call, duration: 1, usage: {} };
}

type Write = { readonly name: string; readonly path: string; readonly body: () => unknown };

const writes: readonly Write[] = [
  { name: "an event", path: "/events", body: () => ({ event: anEvent() }) },
  { name: "a batch", path: "/events/batch", body: () => ({ events: [anEvent(), anEvent()] }) },
  {
    name: "a session",
    path: "/session/start",
    body: () => ({ session: { project: "x", session_name: "s", source: "test" } }),
  },
  {
    name: "a model event",
    path: "/events/model",
    body: () => ({ model_event: aModelCall() }),
  },
  { name: "spans", path: "/opentelemetry/v1/traces", body: aSpan },
];

const reads = [
  { method: "GET", path: "/v1/sessions", body: undefined },
  { method: "GET", path: "/v1/events/schema", body: undefined },
  { method: "POST", path: "/v1/events/export", body: { filters: [] } },
  { method: "POST", path: "/v1/events/stream", body: { filters: [] } },
] as const;

const unavailable = {
  status: 503,
  retryAfter: "1",
  text: '{"success":false,"statusCode":503,"errorCode":"DATABASE_UNAVAILABLE"}',
};

async function expectOnlyEuropeAway(): Promise<void> {
  for (const { path, body } of writes.filter(({ name }) => name !== "spans")) {
    expect(await call(europeanKey, "POST", path, body())).toEqual(unavailable);
    expect(await call(service.projectKey, "POST", path, body())).toMatchObject({ status: 200 });
  }
  for (const { method, path, body } of reads) {
    expect(await call(europeanKey, method, path, body)).toEqual(unavailable);
    expect(await call(service.projectKey, method, path, body)).toMatchObject({ status: 200 });
  }
  const spans = await call(europeanKey, "POST", "/opentelemetry/v1/traces", aSpan());
  expect(spans).toMatchObject({ status: 503, retryAfter: "1" });
  const kept = { "idempotency-key": createUuid() };
  const event = { event: anEvent() };
  expect(await call(europeanKey, "POST", "/events", event, kept)).toEqual(unavailable);
}

describe("a cluster that is away", () => {
  test("at the start takes only its own projects with it, and comes by itself", async () => {
    expect(await readiness()).toEqual({
      status: 200,
      body: { status: "ok", degraded: ["cluster eu"] },
    });
    await expectOnlyEuropeAway();

    await proxy.open();
    await vi.waitFor(async () => {
      const got = await call(europeanKey, "POST", "/events", { event: anEvent() });
      expect(got.status).toBe(200);
    }, 60_000);

    expect(await readiness()).toEqual({ status: 200, body: { status: "ok" } });
  });

  test("later takes only its own projects with it, and comes back", async () => {
    await proxy.shut();
    await expectOnlyEuropeAway();
    await vi.waitFor(async () => {
      const want = { status: 200, body: { status: "ok", degraded: ["cluster eu"] } };
      expect(await readiness()).toEqual(want);
    }, 60_000);
    await expectOnlyEuropeAway();

    await proxy.open();
    await vi.waitFor(async () => {
      expect((await call(europeanKey, "GET", "/v1/sessions")).status).toBe(200);
    }, 60_000);
  });

  test("loses nothing that was acknowledged", async () => {
    const ids: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const writing = Array.from({ length: 20 }, async () => {
        const eventId = createUuid();
        const event = anEvent({ event_id: eventId });
        const { status } = await call(europeanKey, "POST", "/events", { event });
        if (status === 200) ids.push(eventId);
      });
      await proxy.shut();
      await Promise.all(writing);
      await proxy.open();
      await vi.waitFor(async () => {
        const got = await call(europeanKey, "POST", "/events", { event: anEvent() });
        expect(got.status).toBe(200);
      }, 60_000);
    }

    for (const id of ids) {
      expect((await call(europeanKey, "GET", `/v1/events/${id}`)).status).toBe(200);
    }
  });
});

describe("data of a project", () => {
  test.each(writes)("is in its cluster and nowhere else: $name", async ({ path, body }) => {
    for (const [key, own, other] of [
      [europeanKey, europe.database, service.database],
      [service.projectKey, service.database, europe.database],
    ] as const) {
      const [ownBefore, otherBefore] = [await countRows(own), await countRows(other)];

      const headers = { "idempotency-key": createUuid() };
      const sent = body();
      const first = await call(key, "POST", path, sent, headers);
      const again = await call(key, "POST", path, sent, headers);

      expect(first.status).toBe(200);
      expect(again).toEqual(first);
      const ownAfter = await countRows(own);
      expect(ownAfter["events"]).toBeGreaterThan(ownBefore["events"] ?? 0);
      expect(ownAfter["idempotency_records"]).toBe((ownBefore["idempotency_records"] ?? 0) + 1);
      expect(await countRows(other)).toEqual(otherBefore);
    }
  });

  test("is read where it was written, over REST and RPC", async () => {
    const sessionId = createUuid();
    const event = anEvent({ session_id: sessionId, metadata: { place: "europe" } });
    await call(europeanKey, "POST", "/events", { event });
    const filters = [{ field: "metadata.place", operator: "is", value: "europe" }];

    const found = await call(europeanKey, "POST", "/v1/events/export", { filters });
    const session = await call(europeanKey, "GET", `/v1/sessions/${sessionId}`);
    const grpc = createClient(
      SessionService,
      createGrpcTransport({
        baseUrl: service.url,
        interceptors: [
          (next) => (request) => {
            request.header.set("authorization", `Bearer ${europeanKey}`);
            return next(request);
          },
        ],
      }),
    );

    expect(JSON.parse(found.text)).toMatchObject({ events: [{ session_id: sessionId }] });
    expect(session.status).toBe(200);
    expect((await grpc.getSession({ sessionId })).eventId).toBe(sessionId);
    // No event of the other cluster ever had this field.
    expect(await call(service.projectKey, "POST", "/v1/events/export", { filters })).toMatchObject({
      status: 400,
    });
  });

  test("is changed and deleted where it was written", async () => {
    const [sessionId, eventId] = [createUuid(), createUuid()];
    const event = anEvent({ session_id: sessionId, event_id: eventId });
    await call(europeanKey, "POST", "/events", { event });
    const before = await countRows(service.database);

    const feedback = { event_id: eventId, feedback: { rating: 5 } };
    expect((await call(europeanKey, "PUT", "/events", feedback)).status).toBe(200);
    const read = await call(europeanKey, "GET", `/v1/events/${eventId}`);
    expect(JSON.parse(read.text)).toMatchObject({ event: { feedback: { rating: 5 } } });
    expect((await call(europeanKey, "DELETE", `/v1/sessions/${sessionId}`)).status).toBe(200);
    expect((await call(europeanKey, "GET", `/v1/events/${eventId}`)).status).toBe(404);
    expect(await countRows(service.database)).toEqual(before);
  });

  test("is put into queues and reviewed there", async () => {
    const eventId = createUuid();
    const event = anEvent({ event_id: eventId });
    await call(europeanKey, "POST", "/events", { event });
    const metric = { name: "kind", type: "HUMAN", criteria: "Is it?", return_type: "boolean" };
    await call(europeanKey, "POST", "/v1/metrics", metric);
    const fields = { name: "european", event_ids: [eventId] };
    const headers = { "idempotency-key": createUuid() };
    const made = await call(europeanKey, "POST", "/v1/queues", fields, headers);
    const again = await call(europeanKey, "POST", "/v1/queues", fields, headers);
    expect(again).toEqual(made);

    const { queue } = JSON.parse(made.text) as { queue: { id: string } };
    const scores = [{ metric: "kind", value: true }];
    const review = { event_id: eventId, scores };
    const path = `/v1/queues/${queue.id}`;
    const completed = await call(europeanKey, "POST", `${path}/complete`, review);

    expect([made.status, completed.status]).toEqual([201, 200]);
    const read = await call(europeanKey, "GET", `/v1/events/${eventId}`);
    expect(JSON.parse(read.text)).toMatchObject({ event: { metrics: { kind: true } } });
    const countsOf = ({ database }: { readonly database: Database }) =>
      database.sql()`
        select
          (select count(*)::integer from annotation_items) as items,
          (select count(*)::integer from annotation_scores) as scores`;
    expect(await countsOf(europe)).toMatchObject([{ items: 1, scores: 1 }]);
    expect(await countsOf(service)).toMatchObject([{ items: 0, scores: 0 }]);
    expect((await call(europeanKey, "DELETE", path)).status).toBe(200);
    expect(await countsOf(europe)).toMatchObject([{ items: 1, scores: 1 }]);
  });

  test("is nowhere when its cluster is not configured", async () => {
    const { orgId } = service.project;
    const move = (clusterId: string) => service.database.sql()`
      update dataplanes set cluster_id = ${clusterId} where org_id = ${orgId}`;
    await move("gone");
    try {
      // A key that no memory holds yet sees the change at once.
      expect(await call(service.readOnlyKey, "GET", "/v1/sessions")).toEqual(unavailable);
    } finally {
      await move("default");
    }
  });
});
