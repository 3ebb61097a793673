// OTLP bodies: the liberties JSON senders take, what makes a span bad, what makes a body bad.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { StatusSchema } from "../../../gen/google/rpc/status_pb.js";
import {
  ExportTraceServiceRequestSchema,
  ExportTraceServiceResponseSchema,
} from "../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { isWithin, type JsonObject, type JsonValue } from "../../../src/base/json.ts";
import { nestingDepthMax } from "../../../src/base/limits.ts";
import { buckets } from "../../../src/tracing/events/event.ts";
import { formatExportError, formatExportResponse } from "../../../src/transport/otlp/http.ts";
import { addRejectedSpans } from "../../../src/transport/otlp/partial-success.ts";
import { traces } from "../../../src/transport/otlp/signals.ts";
import type { SpanWrites } from "../../../src/tracing/spans/record-spans.ts";
import { parseTraces, writesOf } from "../../support/spans.ts";

const goodSpan: JsonObject = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  name: "good",
  startTimeUnixNano: "1760000000000123456",
  endTimeUnixNano: "1760000001000000000",
};

function requestOf(...spans: readonly JsonValue[]): JsonObject {
  return { resourceSpans: [{ scopeSpans: [{ spans }] }] };
}

function encode(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

async function receive(...spans: readonly JsonValue[]): Promise<SpanWrites> {
  return writesOf("application/json", encode(requestOf(...spans)));
}

function attribute(value: JsonValue): JsonObject {
  return { ...goodSpan, attributes: [{ key: "a", value }] };
}

describe("JSON spans", () => {
  test("times are milliseconds to the microsecond", async () => {
    expect((await receive(goodSpan)).writes[0]).toMatchObject({
      start_time: 1_760_000_000_000.123,
      end_time: 1_760_000_001_000,
      duration: 999.877,
    });
  });

  test.each<{ name: string; span: JsonObject }>([
    { name: "upper-case ids", span: { traceId: "0AF7651916CD43DD8448EB211C80319C" } },
    // oxlint-disable-next-line no-loss-of-precision -- as JSON.parse reads it
    { name: "numbers for times", span: { startTimeUnixNano: 1_760_000_000_000_123_456 } },
    {
      name: "names for enums",
      span: { kind: "SPAN_KIND_INTERNAL", status: { code: "STATUS_CODE_UNSET" } },
    },
    { name: "an unknown enum's name", span: { kind: "SPAN_KIND_NEW" } },
    { name: "nulls", span: { parentSpanId: null, attributes: null, events: null, status: null } },
    { name: "unknown fields", span: { later: { a: [1] } } },
  ])("$name read as the same span", async ({ span }) => {
    expect(await receive({ ...goodSpan, ...span })).toEqual(await receive(goodSpan));
  });

  test("snake_case names read as camelCase ones", async () => {
    const snake = {
      trace_id: goodSpan["traceId"] ?? null,
      span_id: goodSpan["spanId"] ?? null,
      name: "good",
      start_time_unix_nano: goodSpan["startTimeUnixNano"] ?? null,
      end_time_unix_nano: goodSpan["endTimeUnixNano"] ?? null,
    };
    const request = { resource_spans: [{ scope_spans: [{ spans: [snake] }] }] };

    expect(await writesOf("application/json", encode(request))).toEqual(await receive(goodSpan));
  });

  test.each<{ value: JsonObject; want: JsonValue }>([
    { value: { stringValue: "" }, want: "" },
    { value: { string_value: "x" }, want: "x" },
    { value: { boolValue: false }, want: false },
    { value: { intValue: "42" }, want: 42 },
    { value: { intValue: 42 }, want: 42 },
    { value: { intValue: "-9223372036854775808" }, want: "-9223372036854775808" },
    { value: { doubleValue: 0.5 }, want: 0.5 },
    { value: { doubleValue: "NaN" }, want: "NaN" },
    { value: { doubleValue: "-Infinity" }, want: "-Infinity" },
    { value: { bytesValue: "3q2+7w==" }, want: "3q2+7w==" },
    { value: { arrayValue: { values: [{ intValue: "1" }, {}] } }, want: [1, null] },
    { value: { arrayValue: {} }, want: [] },
    {
      value: { kvlistValue: { values: [{ key: "k", value: { stringValue: "v" } }] } },
      want: { k: "v" },
    },
    { value: {}, want: null },
  ])("attribute $value is $want", async ({ value, want }) => {
    expect((await receive(attribute(value))).writes[0]?.metadata?.["a"]).toEqual(want);
  });
});

describe("bad spans", () => {
  test.each<{ name: string; span: JsonValue; reason: string }>([
    {
      name: "no trace id",
      span: { ...goodSpan, traceId: "" },
      reason: 'span "good": trace id is not 16 bytes other than zero',
    },
    {
      name: "a zero trace id",
      span: { ...goodSpan, traceId: "0".repeat(32) },
      reason: 'span "good": trace id is not 16 bytes other than zero',
    },
    {
      name: "a short span id",
      span: { ...goodSpan, spanId: "b7ad6b71692033" },
      reason: 'span "good": span id is not 8 bytes other than zero',
    },
    {
      name: "a span id that is no hex",
      span: { ...goodSpan, spanId: "zzzzzzzzzzzzzzzz" },
      reason: 'span "good": span id is not 8 bytes other than zero',
    },
    {
      name: "no start",
      span: { ...goodSpan, startTimeUnixNano: "0" },
      reason: 'span "good": start time is missing',
    },
    {
      name: "a start past any calendar",
      span: { ...goodSpan, startTimeUnixNano: "18446744073709551615" },
      reason: 'span "good": start time is past the year 2255',
    },
    {
      name: "a negative start",
      span: { ...goodSpan, startTimeUnixNano: -1 },
      reason: 'span "good": startTimeUnixNano must be an unsigned 64-bit integer',
    },
    {
      name: "a number for its name",
      span: { ...goodSpan, name: 7 },
      reason: 'span "": name must be text',
    },
    { name: "text for itself", span: "span", reason: 'span "": span must be an object' },
    {
      name: "attributes that are no list",
      span: { ...goodSpan, attributes: {} },
      reason: 'span "good": attributes must be an array',
    },
    {
      name: "an attribute of two words",
      span: attribute({ intValue: "1.5" }),
      reason: 'span "good": attribute "a" intValue must be a 64-bit integer',
    },
    {
      name: "a word for a flag",
      span: attribute({ boolValue: "yes" }),
      reason: 'span "good": attribute "a" boolValue must be true or false',
    },
    {
      name: "too deep an attribute",
      span: attribute(nested(150)),
      reason: 'span "good": attribute "a" nests too deep',
    },
    {
      name: "far too deep an attribute",
      span: attribute(nested(1_000)),
      reason: 'span "good": attribute "a" nests too deep',
    },
  ])("one with $name is left out, and the others are stored", async ({ span, reason }) => {
    const { writes, rejected } = await receive(span, { ...goodSpan, name: "other" });

    expect(writes.map(({ event_name: name }) => name)).toEqual(["other"]);
    expect(rejected).toEqual([{ reason }]);
  });

  test("an attribute at the limit of nesting is stored within the limit of a bucket", async () => {
    const { writes } = await receive(attribute(nested(120)));

    expect(isWithin(writes[0]?.metadata, nestingDepthMax, Number.isFinite)).toBe(true);
  });

  test("too deep an attribute of Protobuf costs its span, not its body", async () => {
    const { request } = await parseTraces(
      "application/json",
      encode(requestOf(attribute(nested(125)), goodSpan)),
    );

    const binary = toBinary(ExportTraceServiceRequestSchema, request);

    expect(await writesOf("application/x-protobuf", binary)).toMatchObject({
      writes: [{ event_name: "good" }],
      rejected: [{ reason: 'span "good": attribute "a" nests too deep' }],
    });
  });
});

function nested(depth: number): JsonObject {
  let value: JsonObject = { stringValue: "leaf" };
  for (let level = 0; level < depth; level += 1) value = { arrayValue: { values: [value] } };
  return value;
}

describe("bad bodies", async () => {
  const protobuf = toBinary(
    ExportTraceServiceRequestSchema,
    (await parseTraces("application/json", encode(requestOf(goodSpan)))).request,
  );
  const invalidText = Uint8Array.from(protobuf);
  invalidText[Buffer.from(protobuf).indexOf("good")] = 0xff;

  test.each<{ name: string; contentType: string; body: Uint8Array }>([
    { name: "no JSON", contentType: "application/json", body: Buffer.from("{") },
    { name: "an empty JSON body", contentType: "application/json", body: Buffer.from("") },
    { name: "an array", contentType: "application/json", body: Buffer.from("[]") },
    {
      name: "invalid UTF-8",
      contentType: "application/json",
      body: Buffer.from([0x22, 0xff, 0x22]),
    },
    {
      name: "a frame of the wrong type",
      contentType: "application/json",
      body: encode({ resourceSpans: 7 }),
    },
    {
      name: "truncated Protobuf",
      contentType: "application/x-protobuf",
      body: protobuf.subarray(0, -3),
    },
    {
      name: "Protobuf with invalid UTF-8",
      contentType: "application/x-protobuf",
      body: invalidText,
    },
    { name: "another content type", contentType: "text/plain", body: encode(requestOf()) },
  ])("$name is MALFORMED_BODY", async ({ contentType, body }) => {
    await expect(parseTraces(contentType, body)).rejects.toMatchObject({
      reason: "MALFORMED_BODY",
    });
  });

  test("parameters and case of the content type do not matter", async () => {
    const { request } = await parseTraces("Application/JSON; charset=utf-8", encode(requestOf()));

    expect(request.resourceSpans.length).toBe(1);
  });
});

describe("answers", () => {
  const empty = create(ExportTraceServiceResponseSchema);

  test("full success is an empty message", async () => {
    const json = formatExportResponse(traces, "application/json", addRejectedSpans(empty, []));
    const protobuf = formatExportResponse(traces, "application/x-protobuf", empty);

    expect(Buffer.from(json.body).toString()).toBe("{}");
    expect(protobuf).toEqual({ contentType: "application/x-protobuf", body: new Uint8Array(0) });
  });

  test("partial success counts every span and names the first reasons", async () => {
    const rejected = Array.from({ length: 12 }, (_, index) => ({
      reason: `reason ${String(index)}`,
    }));

    const { body } = formatExportResponse(
      traces,
      "application/json",
      addRejectedSpans(empty, rejected),
    );

    const { partialSuccess } = JSON.parse(Buffer.from(body).toString()) as {
      partialSuccess: { rejectedSpans: string; errorMessage: string };
    };
    expect(partialSuccess.rejectedSpans).toBe("12");
    expect(partialSuccess.errorMessage).toMatch(/^reason 0; reason 1; .*; and 2 more$/);
  });

  test("rejected spans add up", async () => {
    const once = addRejectedSpans(empty, [{ reason: "a" }]);

    expect(addRejectedSpans(once, [{ reason: "b" }]).partialSuccess).toMatchObject({
      rejectedSpans: 2n,
      errorMessage: "a; b",
    });
  });

  test("long reasons are cut", async () => {
    const { partialSuccess } = addRejectedSpans(empty, [{ reason: "x".repeat(10_000) }]);

    expect(partialSuccess?.errorMessage.length).toBeLessThan(2_100);
  });

  test("errors are a Status in the encoding of the request", async () => {
    const json = formatExportError("application/json", 400, "body is no JSON");
    const protobuf = formatExportError("application/x-protobuf", 503, "");

    expect(JSON.parse(Buffer.from(json.body).toString())).toEqual({
      code: 3,
      message: "body is no JSON",
    });
    expect(fromBinary(StatusSchema, protobuf.body)).toMatchObject({ code: 14, message: "" });
  });
});

describe("any attributes at all", () => {
  const prefixes = [
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.prompt.0.",
    "gen_ai.completion.",
    "gen_ai.system_instructions",
    "gen_ai.tool.definitions",
    "gen_ai.usage.input_tokens",
    "gen_ai.operation.name",
    "llm.input_messages.0.message.",
    "llm.output_messages.",
    "llm.invocation_parameters",
    "llm.tools.0.",
    "llm.request.functions.0.",
    "input.value",
    "retrieval.documents.0.",
    "embedding.embeddings.",
    "metadata",
    "ai.prompt",
    "ai.prompt.tools",
    "ai.response.toolCalls",
    "ai.values",
    "traceloop.entity.input",
    "honeyhive_inputs.",
    "honeyhive_config",
    "honeyhive_error",
    "honeyhive_duration_ms",
    "honeyhive_event_type",
    "",
  ];
  const json = fc.json({ maxDepth: 4 });
  const anyValue = fc.letrec<{ value: JsonObject }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.oneof(fc.string({ unit: "binary" }), json).map((text) => ({ stringValue: text })),
      fc.record({ intValue: fc.maxSafeInteger().map(String) }),
      fc.record({ boolValue: fc.boolean() }),
      fc.double().map((value) => ({ doubleValue: Number.isFinite(value) ? value : String(value) })),
      fc.array(tie("value")).map((values) => ({ arrayValue: { values } })),
      fc
        .array(fc.record({ key: fc.string(), value: tie("value") }))
        .map((values) => ({ kvlistValue: { values } })),
      fc.constant({}),
    ),
  })).value;
  const attributes = fc.array(
    fc.record({
      key: fc
        .tuple(
          fc.constantFrom(...prefixes),
          fc.constantFrom("", "role", "content", "0.x", "__proto__"),
        )
        .map(([prefix, rest]) => prefix + rest),
      value: anyValue,
    }),
  );

  test("become an event within the limits, from Protobuf too, never an exception", async () => {
    await fc.assert(
      fc.asyncProperty(attributes, attributes, async (list, eventAttributes) => {
        const events = [
          { name: "gen_ai.choice", attributes: eventAttributes },
          { name: "exception", attributes: eventAttributes },
        ];
        const body = encode(requestOf({ ...goodSpan, attributes: list, events }));

        const { writes, rejected } = await writesOf("application/json", body);

        expect(rejected).toEqual([]);
        expect(writes.length).toBe(1);
        for (const bucket of buckets) {
          expect(isWithin(writes[0]?.[bucket], nestingDepthMax, Number.isFinite)).toBe(true);
        }
        expect(JSON.parse(JSON.stringify(writes))).toEqual(writes);
        const { request } = await parseTraces("application/json", body);
        const binary = toBinary(ExportTraceServiceRequestSchema, request);
        expect((await writesOf("application/x-protobuf", binary)).writes).toEqual(writes);
      }),
      { numRuns: 300 },
    );
  });

  test("lose no text, whatever they are taken for", async () => {
    const texts = fc.nat({ max: 1e9 }).map((number) => `text-${String(number)}`);
    const values = fc.oneof(
      texts,
      fc.tuple(texts, texts).map(([a, b]) => JSON.stringify({ messages: [{ content: a }], b })),
      fc.tuple(texts, texts).map(([a, b]) => JSON.stringify([{ role: a, content: b }, b])),
      fc.tuple(texts, texts).map(([a, b]) => JSON.stringify({ prompt: a, other: b, messages: a })),
      fc.tuple(texts, texts).map(([a, b]) => JSON.stringify({ role: a, parts: [{ text: b }] })),
      texts.map((text) => JSON.stringify([{ type: "tool_call", name: text, id: text }])),
    );
    const suffixes = ["", "0", "0.role", "0.content", "1.a.b", "x", "0.message.content"];
    const marked = fc.array(
      fc.record({
        key: fc
          .tuple(fc.constantFrom(...prefixes), fc.constantFrom(...suffixes))
          .map(([prefix, suffix]) => prefix + suffix),
        value: fc.record({ stringValue: values }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(marked, async (list) => {
        const unique = [...new Map(list.map((item) => [item.key, item])).values()];
        const span = { ...goodSpan, attributes: unique, status: { code: 2 } };

        const kept = JSON.stringify((await receive(span)).writes);

        const sent = JSON.stringify(unique).match(/text-\d+/g) ?? [];
        const lost = sent.filter((text) => !kept.includes(text));
        expect(lost).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  test("any bytes are a request or MALFORMED_BODY", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array(), fc.boolean(), async (body, isJson) => {
        try {
          await parseTraces(isJson ? "application/json" : "application/x-protobuf", body);
        } catch (error) {
          expect(error).toMatchObject({ reason: "MALFORMED_BODY" });
        }
      }),
    );
  });

  test("any JSON is a request or MALFORMED_BODY", async () => {
    const spans = fc.record(
      {
        traceId: fc.jsonValue(),
        name: fc.jsonValue(),
        attributes: fc.jsonValue(),
        events: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.jsonValue(),
          spans.map((span) => requestOf(span as JsonObject)),
        ),
        async (value) => {
          try {
            await writesOf("application/json", encode(value));
          } catch (error) {
            expect(error).toMatchObject({ reason: "MALFORMED_BODY" });
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
