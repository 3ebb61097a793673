// Events and spans of type session inside another session, over every way in: each is stored with
// that type, and is no session. Source: docs/decisions.md, 38.

import { describe, expect, test } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { givenStarted } from "../support/given.ts";
import { callRoute } from "../support/call-route.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

async function call(method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${service.projectKey}` };
  const { status, json } = await callRoute(
    { url: service.url, headers },
    `${method} ${path}`,
    body,
  );
  return { status, json: json as JsonObject };
}

const post = (path: string, body: unknown) => call("POST", path, body);

/** An event of type session with one token, in a session of another id. */
function anInner(session_id: string, parts: JsonObject = {}) {
  return {
    event_id: createUuid(),
    session_id,
    event_type: "session",
    event_name: "inner",
    source: "test",
    inputs: {},
    metadata: { total_tokens: 1 },
    ...parts,
  };
}

/** Sends an event as a span without a name for its session or user. */
function exportSpan({ event_id, session_id }: ReturnType<typeof anInner>) {
  const attributes = {
    "honeyhive.session_id": session_id,
    honeyhive_event_id: event_id,
    honeyhive_event_type: "session",
    honeyhive_event_name: "inner",
    "honeyhive_metadata.total_tokens": "1",
  };
  const span = {
    traceId: createUuid().replaceAll("-", ""),
    spanId: "00000000000000a1",
    name: "inner",
    startTimeUnixNano: "1760000000000000000",
    endTimeUnixNano: "1760000001000000000",
    attributes: Object.entries(attributes).map(([key, stringValue]) => ({
      key,
      value: { stringValue },
    })),
  };
  return post("/v1/traces", { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
}

const ways = [
  { name: "POST /events", send: (event: JsonObject) => post("/events", { event }) },
  { name: "POST /v1/events", send: (event: JsonObject) => post("/v1/events", event) },
  { name: "a batch", send: (event: JsonObject) => post("/events/batch", { events: [event] }) },
  { name: "OTLP", send: (event: JsonObject) => exportSpan(event as ReturnType<typeof anInner>) },
] as const;

describe.each(ways)("an event of type session inside a session, by $name", ({ send }) => {
  test.each([{ isStarted: true }, { isStarted: false }])(
    "is stored with its type (session started: $isStarted)",
    async ({ isStarted }) => {
      const session_id = createUuid();
      if (isStarted) await post("/session/start", { session: { session_id, source: "test" } });
      const event = anInner(session_id);

      expect((await send(event)).status).toBe(200);

      const { json } = await call("GET", `/v1/events/${event.event_id}`);
      expect(json["event"]).toMatchObject({
        event_id: event.event_id,
        event_type: "session",
        event_name: "inner",
        session_id,
        parent_id: session_id,
      });
    },
  );

  test("counts and hangs in its session, and is none itself", async () => {
    const session_id = createUuid();
    const event = anInner(session_id);
    await send(event);
    const child = { event_type: "tool", session_id, parent_id: event.event_id, inputs: {} };
    await post("/events", { event: child });

    const { json: tree } = await call("GET", `/v1/sessions/${session_id}`);
    expect(tree).toMatchObject({
      metadata: { num_events: 2, total_tokens: 1 },
      children: [{ event_id: event.event_id, event_type: "session", children: [{}] }],
    });
    const { json: skeleton } = await call("GET", `/v1/sessions/${session_id}?view=skeleton`);
    expect(skeleton).toMatchObject({ children: [{ event_type: "session", children: [{}] }] });
    expect((await call("GET", `/v1/sessions/${event.event_id}`)).status).toBe(404);
    expect((await call("DELETE", `/v1/sessions/${event.event_id}`)).status).toBe(404);
    const { json: list } = await call("GET", "/v1/sessions?limit=1000");
    const ids = (list["sessions"] as readonly JsonObject[]).map((one) => one["event_id"]);
    expect(ids).toContain(session_id);
    expect(ids).not.toContain(event.event_id);
  });

  test("keeps one row and the totals when it is sent again", async () => {
    const event = anInner(createUuid());
    await send(event);
    await send(event);

    const { json } = await call("GET", `/v1/sessions/${event.session_id}`);

    expect(json).toMatchObject({ metadata: { num_events: 1, total_tokens: 1 } });
    expect(json["children"]).toHaveLength(1);
  });
});

describe("an event of type session inside a session", () => {
  test("is no session for other events", async () => {
    const { event_id } = (await sendInner()).event;
    const event = { event_type: "tool", session_id: event_id, inputs: {} };

    // Twice: the first of a project's events of a shape take another way to the table.
    for (const _ of [1, 2]) {
      const { status, json } = await post("/events", { event });
      expect(status).toBe(400);
      expect(json["message"]).toContain("is the id of an event that is no session");
    }
    const started = await post("/session/start", { session: { session_id: event_id } });
    expect(started.status).toBe(400);
  });

  test("takes updates of its fields, and the last of two times", async () => {
    const { event } = await sendInner({ start_time: 1_000, end_time: 9_000 });
    const update = { event_id: event.event_id, end_time: 5_000, metadata: { total_tokens: 3 } };

    expect((await call("PUT", "/events", update)).status).toBe(200);

    const { json } = await call("GET", `/v1/events/${event.event_id}`);
    expect(json["event"]).toMatchObject({ event_type: "session", end_time: 5_000 });
    const { json: session } = await call("GET", `/v1/sessions/${event.session_id}`);
    expect(session).toMatchObject({ metadata: { num_events: 1, total_tokens: 3 } });
  });

  test("is deleted as an event, which leaves its session", async () => {
    const { event } = await sendInner();

    expect((await call("DELETE", `/v1/events/${event.event_id}`)).status).toBe(200);

    const { status, json } = await call("GET", `/v1/sessions/${event.session_id}`);
    expect(status).toBe(200);
    expect(json).toMatchObject({ metadata: { num_events: 0, total_tokens: 0 }, children: [] });
  });

  test("is found by its type and by its parent", async () => {
    const { event } = await sendInner();
    const filters = [
      { field: "event_type", operator: "is", value: "session" },
      { field: "parent_id", operator: "is", value: event.session_id },
    ];

    const { json } = await post("/v1/events/search", { filters });

    expect(json["events"]).toMatchObject([{ event_id: event.event_id }]);
  });

  test("stays one in a batch that joins one session", async () => {
    const session_id = createUuid();
    const event = anInner(createUuid());

    const { json } = await post("/events/batch", {
      events: [event],
      is_single_session: true,
      session_properties: { session_id },
    });

    expect(json).toMatchObject({ success: true, session_id, event_ids: [event.event_id] });
  });
});

async function sendInner(parts: JsonObject = {}) {
  const event = anInner(createUuid(), parts);
  const { status } = await post("/events", { event });
  expect(status).toBe(200);
  return { event };
}
