// Events that cannot be stored, over every way in: each is refused alone, with its cause.
// Source: docs/decisions.md, 5, 9 and 37.1.

import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { eventValuesMax, keyLengthMax, metadataValuesMax } from "../../src/base/limits.ts";
import { deriveEventId } from "../../src/tracing/spans/identity.ts";
import { givenStarted } from "../support/given.ts";
import { callRoute } from "../support/call-route.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

/** An event that is no session. */
const eventId = createUuid();

beforeAll(async () => {
  await post("/events", { event: { event_id: eventId, event_type: "tool", inputs: {} } });
});

function post(path: string, body: unknown) {
  const headers = { authorization: `Bearer ${service.projectKey}` };
  return callRoute({ url: service.url, headers }, `POST ${path}`, body);
}

async function statusOf(id: string): Promise<number> {
  const response = await fetch(`${service.url}/v1/events/${id}`, {
    headers: { authorization: `Bearer ${service.projectKey}` },
  });
  await response.arrayBuffer();
  return response.status;
}

/** Sends spans in one scope of a resource; returns how many are rejected, and why. */
async function exportSpans(
  spans: readonly JsonObject[],
  headers: Readonly<Record<string, string>> = {},
  resource: JsonObject = {},
) {
  const response = await fetch(`${service.url}/v1/traces`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${service.ingestionKey}`,
      "content-type": "application/json",
      "content-encoding": "gzip",
      ...headers,
    },
    body: gzipSync(JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }] })),
  });
  const { partialSuccess } = (await response.json()) as {
    readonly partialSuccess?: { readonly rejectedSpans: string; readonly errorMessage: string };
  };
  const { rejectedSpans = "0", errorMessage = "" } = partialSuccess ?? {};
  return { status: response.status, rejected: Number(rejectedSpans), message: errorMessage };
}

function aSpan(traceId: string, spanId: number, parts: JsonObject = {}): JsonObject {
  return {
    traceId,
    spanId: spanId.toString(16).padStart(16, "0"),
    name: "step",
    startTimeUnixNano: "1760000000000000000",
    endTimeUnixNano: "1760000001000000000",
    ...parts,
  };
}

const newTraceId = (): string => createUuid().replaceAll("-", "");

describe("a text that is too long", () => {
  const name = "n".repeat(2_000_000);
  const error = "e".repeat(3_000_000);
  const source = "s".repeat(12_000);

  test.each([
    { field: "event_name", input: { event_name: name }, span: { name } },
    {
      field: "error",
      input: { error },
      span: { status: { code: 2, message: error } },
    },
    { field: "source", input: { source }, span: {}, headers: { "x-source": source } },
  ])("as $field is refused over every way in", async ({ field, input, span, headers }) => {
    const event = { event_type: "tool", inputs: {}, source: "test", ...input };
    const traceId = newTraceId();

    const alone = await post("/events", { event });
    const rpc = await post("/waggle.v1.EventService/CreateEvent", { event });
    const batch = await post("/events/batch", { events: [event] });
    const otlp = await exportSpans([aSpan(traceId, 1, span)], headers);

    expect([alone.status, rpc.status, batch.status, otlp.status]).toEqual([400, 400, 400, 200]);
    expect(alone.json["message"]).toMatch(new RegExp(`event\\.${field}: is longer than \\d+ char`));
    expect(rpc.json["message"]).toBe(alone.json["message"]);
    expect(batch.json["errors"]).toEqual([
      expect.stringMatching(`^events\\[0\\]\\.${field}: is lon`),
    ]);
    expect(otlp).toMatchObject({
      rejected: 1,
      message: expect.stringMatching(/(name|error:|source:) is longer than \d+ char/) as string,
    });
    expect(await statusOf(deriveEventId(traceId, "1".padStart(16, "0")))).toBe(404);
  });
});

test("a time out of range is refused in the same words over REST and RPC", async () => {
  const event = { event_type: "tool", inputs: {}, source: "test", start_time: 1e18 };

  const rest = await post("/events", { event });
  const rpc = await post("/waggle.v1.EventService/CreateEvent", { event });
  const batch = await post("/events/batch", { events: [event] });

  const want = "start_time: must be Unix milliseconds between the years 1684 and 2255";
  expect([rest.status, rpc.status, batch.status]).toEqual([400, 400, 400]);
  expect([rest.json["message"], rpc.json["message"]]).toEqual([`event.${want}`, `event.${want}`]);
  expect(batch.json["errors"]).toEqual([`events[0].${want}`]);
});

test("one attribute of a resource is not copied into thousands of events", async () => {
  const attributes = [{ key: "copied", value: { stringValue: "x".repeat(20_000_000) } }];
  const spans = Array.from({ length: 2_000 }, (_, at) => aSpan(newTraceId(), at + 1));

  const got = await exportSpans(spans, {}, { attributes });

  expect(got).toMatchObject({ status: 200, rejected: 2_000 });
  expect(got.message).toMatch(/resource and scope take more than 64000 bytes.* and 1990 more$/);
});

test("an event of more values than one may have is refused by name", async () => {
  const many = Array.from({ length: eventValuesMax }, () => 1);
  const good = { event_type: "tool", inputs: {}, source: "test" };

  const { status, json } = await post("/events/batch", {
    events: [good, { ...good, inputs: { many } }, { ...good, metadata: { many } }],
  });

  expect(status).toBe(200);
  expect(json["errors"]).toEqual([
    `events[1].inputs: the event has more than ${eventValuesMax} values`,
    `events[2].metadata: has more than ${metadataValuesMax} values, too many for its index`,
  ]);
});

describe("a refusal over REST", () => {
  const call = { model: "m", provider: "p", messages: [], response: {}, duration: 1 };

  test.each([
    { path: "/v1/events", body: { event_type: "bad", inputs: {} }, field: "event_type" },
    { path: "/v1/events", body: { event_type: 5, inputs: {} }, field: "event_type" },
    { path: "/v1/sessions", body: { event_type: "tool" }, field: "event_type" },
    { path: "/v1/sessions", body: { session_id: eventId }, field: "session_id" },
    { path: "/events", body: { event: { event_type: "bad" } }, field: "event.event_type" },
    { path: "/session/start", body: { session: { source: 5 } }, field: "session.source" },
    {
      path: "/events/model",
      body: { model_event: { ...call, parent_id: "a\nb" } },
      field: "model_event.parent_id",
    },
    {
      path: "/v1/events/model",
      body: { model_event: { ...call, session_id: eventId } },
      field: "model_event.session_id",
    },
  ])("of $path names $field as its body does", async ({ path, body, field }) => {
    const got = await post(path, body);

    expect(got.status).toBe(400);
    expect(String(got.json["message"]).split(": ")[0]).toBe(field);
  });
});

test("a fault inside the output of a session names it as the body does", async () => {
  const session_id = createUuid();
  await post("/session/start", { session: { session_id, source: "test" } });
  const body = { error: "", output: { answer: { ["k".repeat(keyLengthMax + 1)]: 1 } } };

  const headers = { authorization: `Bearer ${service.projectKey}` };
  const got = await callRoute({ url: service.url, headers }, `PUT /session/${session_id}`, body);

  const message = `output.answer: has a key longer than ${keyLengthMax} characters`;
  expect([got.status, got.json["message"]]).toEqual([400, message]);
});

describe("an event whose session is another event", () => {
  const good = { event_type: "tool", inputs: {}, source: "test" };
  const isNoSession = `session_id: ${eventId} is the id of an event that is no session`;

  test.each(["/events/batch", "/waggle.v1.EventService/CreateEventBatch"])(
    "is one error of its batch on %s",
    async (path) => {
      const [first, last] = [createUuid(), createUuid()];

      const { status, json } = await post(path, {
        events: [
          { ...good, event_id: first },
          { ...good, session_id: eventId },
          { ...good, event_id: last },
        ],
      });

      expect(status).toBe(200);
      const eventIds = json["event_ids"] ?? json["eventIds"];
      expect([eventIds, json["errors"]]).toEqual([[first, last], [`events[1].${isNoSession}`]]);
      expect(await Promise.all([first, last].map(statusOf))).toEqual([200, 200]);
    },
  );

  test("alone is a 400 that names the session id", async () => {
    const { status, json } = await post("/events", { event: { ...good, session_id: eventId } });

    expect([status, json["errorCode"], json["message"]]).toEqual([
      400,
      "INVALID_ARGUMENT",
      `event.${isNoSession}`,
    ]);
  });

  test("fails a batch of such events only", async () => {
    const lost = { ...good, session_id: eventId };

    const { status, json } = await post("/events/batch", { events: [lost, lost] });

    expect([status, json["errors"]]).toEqual([
      400,
      [`events[0].${isNoSession}`, `events[1].${isNoSession}`],
    ]);
  });

  test("is one rejected span of its export", async () => {
    const traceIds = [newTraceId(), newTraceId(), newTraceId()];
    const attributes = [
      { key: "honeyhive.session_id", value: { stringValue: eventId } },
      // Also said of the session itself, which is not counted as a span.
      { key: "honeyhive.session_name", value: { stringValue: "named" } },
    ];

    const got = await exportSpans(
      traceIds.map((traceId, at) =>
        aSpan(traceId, 1, at === 1 ? { attributes, name: "lost" } : {}),
      ),
    );

    expect(got).toEqual({ status: 200, rejected: 1, message: `span "lost": ${isNoSession}` });
    const ids = traceIds.map((traceId) => deriveEventId(traceId, "1".padStart(16, "0")));
    expect(await Promise.all(ids.map(statusOf))).toEqual([200, 404, 200]);
  });
});
