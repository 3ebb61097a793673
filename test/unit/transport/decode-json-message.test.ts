// JSON to messages for Connect and gRPC: part by part as at once, and the limits on the way.

import {
  create,
  fromJson,
  type JsonValue,
  type MessageInitShape,
  toJson,
} from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ExportTraceServiceRequestSchema } from "../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { CreateEventBatchRequestSchema } from "../../../gen/waggle/v1/event_pb.js";
import {
  ExportEventsRequestSchema,
  StreamEventsResponseSchema,
} from "../../../gen/waggle/v1/export_pb.js";
import { CreateChatCompletionRequestSchema } from "../../../gen/waggle/v1/llm_proxy_pb.js";
import { createByteBudget } from "../../../src/base/byte-budget.ts";
import { listItemsMax } from "../../../src/base/limits.ts";
import { messageFromJson } from "../../../src/transport/decode/json-message.ts";

const batch = CreateEventBatchRequestSchema;
const traces = ExportTraceServiceRequestSchema;
const noLimit = () => createByteBudget(Infinity).open();

describe("messageFromJson", () => {
  /** More than is read at once. */
  const long = "é".repeat(70_000);

  test("reads a large batch as it is read at once", async () => {
    const bucket = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }));
    const event = fc.record({
      eventName: fc.string(),
      inputs: bucket,
      childrenIds: fc.array(fc.string()),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 4 }), async (events) => {
        const all = [...events, { inputs: { long }, metadata: { [long]: [long, { long }] } }];
        const init = { events: all, session: { sessionName: long } };
        const json = toJson(batch, create(batch, init as MessageInitShape<typeof batch>));

        const got = await messageFromJson(batch, json, noLimit());

        expect(got).toEqual(fromJson(batch, json));
      }),
      { numRuns: 200 },
    );
  });

  const bucket = { inputs: { long } };

  test.each<{ name: string; json: JsonValue; want: string }>([
    {
      name: "an empty item",
      json: { events: [null, bucket] },
      want: "events[0]: must be an object",
    },
    {
      name: "an item that is a list",
      json: { events: [{}, []] },
      want: "events[1]: must be an object",
    },
    { name: "a list that is none", json: { events: bucket }, want: "events: must be an array" },
    {
      name: "a bucket that is none",
      json: { events: [{ inputs: [long] }] },
      want: "events[0].inputs: must be an object",
    },
    {
      name: "a small bucket that is none",
      json: { events: [{}, { inputs: "a" }] },
      want: "events[1].inputs: must be an object",
    },
    {
      name: "a name of the wrong type",
      json: { events: [{ ...bucket, eventName: 1 }] },
      want: "events[0].eventName: must be a string",
    },
    { name: "a list", json: [], want: "the body must be an object" },
  ])("refuses $name and names it", async ({ json, want }) => {
    await expect(messageFromJson(batch, json, noLimit())).rejects.toMatchObject({
      reason: "INVALID_ARGUMENT",
      message: want,
    });
  });

  test("refuses what only REST accepts in Protobuf's words", async () => {
    const json = { events: [{ startTime: "2026-11-01T00:00:00Z" }] };

    await expect(messageFromJson(batch, json, noLimit())).rejects.toMatchObject({
      reason: "MALFORMED_BODY",
      message: expect.stringContaining("start_time") as string,
    });
  });

  test("reads a large choice of messages, and names as the proto has them", async () => {
    const json = { event: { event_id: "a", inputs: { long } } };

    const got = await messageFromJson(StreamEventsResponseSchema, json, noLimit());

    expect(got).toEqual(fromJson(StreamEventsResponseSchema, json));
  });

  const many = <T>(item: T): T[] => Array.from({ length: listItemsMax + 1 }, () => item);

  test.each<{ name: string; desc: Parameters<typeof fromJson>[0]; json: JsonValue; says: string }>([
    { name: "events", desc: batch, json: { events: many({}) }, says: "events: must have at most" },
    {
      name: "children",
      desc: batch,
      json: { events: [{ children_ids: many("a") }] },
      says: "children_ids: must have at most",
    },
    {
      name: "values of a filter",
      desc: ExportEventsRequestSchema,
      json: { filters: [{ field: "a", value: many(1) }] },
      says: "values in fields that take any value",
    },
  ])("refuses too many $name", async ({ desc, json, says }) => {
    const message = expect.stringContaining(says) as string;
    await expect(messageFromJson(desc, json, noLimit())).rejects.toMatchObject({ message });
  });

  test("refuses a number in a large bucket that JSON has not", async () => {
    const json = { events: [{ inputs: { long, deep: [Infinity] } }] };

    await expect(messageFromJson(batch, json, noLimit())).rejects.toMatchObject({
      reason: "INVALID_ARGUMENT",
      message: "events[0].inputs.deep[0]: must be a finite number",
    });
  });

  test.each([
    { name: "unknown member", desc: batch, path: ["unknown"] },
    { name: "text", desc: batch, path: ["project"] },
    { name: "filter's value", desc: ExportEventsRequestSchema, path: ["filters", "value"] },
  ])("refuses or ignores an $name of 10,000 levels before the stack is full", async (row) => {
    const [outer = "", inner] = row.path;
    const deep: unknown = JSON.parse("[".repeat(10_000) + "]".repeat(10_000));
    const json = { [outer]: inner === undefined ? deep : [{ [inner]: deep }] };

    const got = await messageFromJson(row.desc, json, noLimit()).catch((error: unknown) => error);

    if (outer === "unknown") expect(got).toMatchObject({ events: [] });
    else expect(got).toMatchObject({ reason: "INVALID_ARGUMENT" });
  });

  test("takes the memory of bytes, which JSON has as base64", async () => {
    const memory = createByteBudget(Infinity).open();
    const data = Buffer.alloc(300_000).toString("base64");

    await messageFromJson(CreateChatCompletionRequestSchema, { httpBody: { data } }, memory);

    expect(memory.bytes()).toBeGreaterThanOrEqual(300_000);
  });

  test("takes the memory of the messages that it makes", async () => {
    const spans = Array.from({ length: 10_000 }, () => ({}));
    const json = { resourceSpans: [{ scopeSpans: [{ spans }] }] };
    const memory = createByteBudget(1_000_000).open();

    const read = messageFromJson(traces, json, memory);

    await expect(read).rejects.toMatchObject({ reason: "BODY_TOO_LARGE" });
  });
});
