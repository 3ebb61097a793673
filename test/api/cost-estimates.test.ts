// The estimated cost of a model call, as every reader answers it; senders cannot set it.
// Source: docs/decisions.md, 18.2.

import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { parquetReadObjects } from "hyparquet";
import { beforeAll, expect, test } from "vitest";
import { EventService } from "../../gen/waggle/v1/event_pb.js";
import { ExportService } from "../../gen/waggle/v1/export_pb.js";
import { priceTableName } from "../../src/generation/prices/price-table.ts";
import { givenStarted } from "../support/given.ts";
import { callRoute } from "../support/call-route.ts";
import { callRest } from "../support/read-back.ts";
import { startService } from "../support/service.ts";

const sessionId = "5e551000-0000-4000-8000-0000000000c0";
const known = { cost: 0.0035, price_table: priceTableName };
const unknown = {
  cost: null,
  reason: "the table has no price of mine of openai",
  price_table: priceTableName,
};

type Json = Readonly<Record<string, unknown>>;

const service = givenStarted(startService);

beforeAll(async () => {
  const tokens = { metadata: { prompt_tokens: 1_000, completion_tokens: 100 } };
  const call = { event_type: "model", inputs: {}, start_time: 1_780_000_000_000, ...tokens };
  const config = { provider: "openai" };
  await rest("POST", "/events/batch", {
    session_properties: { session_id: sessionId },
    is_single_session: true,
    events: [
      { ...call, source: "test", event_id: "known", config: { ...config, model: "gpt-4o" } },
      { ...call, source: "test", event_id: "unknown", config: { ...config, model: "mine" } },
      { ...call, source: "test", event_id: "tool", event_type: "tool" },
    ],
  });
});

function rest(method: string, path: string, body?: unknown): Promise<Json> {
  return callRest<Json>({ url: service.url, key: service.projectKey }, method, path, body);
}

/** Sends what may be refused. */
async function send(method: string, path: string, body: unknown) {
  const headers = { authorization: `Bearer ${service.projectKey}` };
  const answer = await callRoute({ url: service.url, headers }, `${method} ${path}`, body);
  return { status: answer.status, body: answer.json as Json };
}

function estimatesOf(events: unknown): Json {
  const found = (events as readonly Json[])
    .filter(({ event_type }) => event_type !== "session")
    .map(({ event_id, cost_estimate }) => [event_id, cost_estimate]);
  return Object.fromEntries(found) as Json;
}

const expected = { known, unknown, tool: undefined };

test.each(["/events/export", "/v1/events/export", "/v1/events/search"])(
  "POST %s answers it",
  async (path) => {
    const { events } = await rest("POST", path, { project: "demo", filters: [] });

    expect(estimatesOf(events)).toEqual(expected);
  },
);

test("it is a projection: whole where no price is known, left out where not asked", async () => {
  const ask = (projections: readonly string[]) =>
    rest("POST", "/v1/events/search", { filters: [], projections });

  const { events } = await ask(["event_id", "event_type", "cost_estimate"]);
  expect(estimatesOf(events)).toEqual(expected);
  expect((events as readonly Json[]).find(({ event_id }) => event_id === "unknown")).toEqual({
    event_id: "unknown",
    event_type: "model",
    cost_estimate: unknown,
  });
  const others = await ask(["event_id", "event_type", "metadata"]);
  expect(estimatesOf(others["events"])).toEqual({});
});

test("GET /v1/events/{event_id} answers it", async () => {
  expect(await rest("GET", "/v1/events/unknown")).toMatchObject({
    event: { cost_estimate: unknown },
  });
});

test("streams have it, as JSON Lines and as Parquet", async () => {
  const stream = (accept: string, body: Json) =>
    fetch(`${service.url}/v1/events/stream`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${service.projectKey}`,
        accept,
        "content-type": "application/json",
      },
      body: JSON.stringify(body),
    });
  const lines = (await (await stream("application/x-ndjson", {})).text()).trim().split("\n");
  const file = await (await stream("application/vnd.apache.parquet", {})).arrayBuffer();
  const rows: readonly Json[] = await parquetReadObjects({ file });
  const without = await stream("application/vnd.apache.parquet", { projections: ["metadata"] });
  const others: readonly Json[] = await parquetReadObjects({ file: await without.arrayBuffer() });

  const parsed = lines.map((line) => JSON.parse(line) as Json).filter((line) => !("done" in line));
  expect(estimatesOf(parsed)).toEqual(expected);
  const read = rows.map(({ cost_estimate: json, ...row }) =>
    typeof json === "string" ? { ...row, cost_estimate: JSON.parse(json) as unknown } : row,
  );
  expect(estimatesOf(read)).toEqual(expected);
  expect(others.map((row) => row["cost_estimate"])).toEqual([null, null, null, null]);
});

test("the tree of a session has it on its nodes, and the session's cost is without", async () => {
  const root = await rest("GET", `/v1/sessions/${sessionId}`);

  expect(estimatesOf(root["children"])).toEqual(expected);
  expect(root["totals"]).not.toHaveProperty("cost");
  expect(root["metadata"]).not.toHaveProperty("cost");
});

test("an RPC client reads it as a message", async () => {
  const transport = createGrpcTransport({
    baseUrl: service.url,
    interceptors: [
      (next) => (request) => {
        request.header.set("authorization", `Bearer ${service.projectKey}`);
        return next(request);
      },
    ],
  });
  const { events } = await createClient(ExportService, transport).searchEvents({
    projections: ["cost_estimate"],
  });
  const { event } = await createClient(EventService, transport).getEvent({ eventId: "known" });

  const unpriced = events.find(({ eventId }) => eventId === "unknown")?.costEstimate;
  expect(unpriced).toMatchObject({ reason: unknown.reason, priceTable: priceTableName });
  expect(unpriced?.cost).toBeUndefined();
  expect(event?.costEstimate).toMatchObject({ cost: 0.0035, priceTable: priceTableName });
});

test("who sends it is refused where unknown keys are, and ignored elsewhere", async () => {
  const sent = {
    event_id: "sent",
    event_type: "model",
    inputs: {},
    source: "test",
    session_id: sessionId,
    start_time: 1_780_000_000_000,
    config: { model: "gpt-4o", provider: "openai" },
    metadata: { prompt_tokens: 1_000, completion_tokens: 100 },
  };
  const forged = { cost: 99, price_table: "mine" };

  const strict = await send("POST", "/v1/events", { ...sent, cost_estimate: forged });
  const lenient = await send("POST", "/events", { event: { ...sent, cost_estimate: forged } });
  const odd = await send("POST", "/events", { event: { ...sent, cost_estimate: "free" } });
  const batch = await send("POST", "/events/batch", {
    events: [{ ...sent, cost_estimate: forged }],
  });

  expect(strict.status).toBe(400);
  expect(strict.body["message"]).toBe("cost_estimate: is not a known key");
  expect([lenient.status, odd.status, batch.status]).toEqual([200, 200, 200]);
  expect(await rest("GET", "/v1/events/sent")).toMatchObject({ event: { cost_estimate: known } });
});
