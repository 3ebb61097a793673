// Bodies of spans, which are read field by field: they must be what the library reads.

import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ExportTraceServiceRequestSchema } from "../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import {
  type AnyValueSchema,
  KeyValueSchema,
} from "../../../gen/opentelemetry/proto/common/v1/common_pb.js";
import { SpanSchema } from "../../../gen/opentelemetry/proto/trace/v1/trace_pb.js";
import { createPacer } from "../../../src/base/pacer.ts";
import { parseProtobuf } from "../../../src/transport/decode/protobuf.ts";
import { countProtobuf } from "../../../src/transport/decode/protobuf-scan.ts";
import { createSpanReader } from "../../../src/transport/decode/span.ts";

const traces = ExportTraceServiceRequestSchema;

const int64 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n);
const uint64 = fc.bigInt(0n, 2n ** 64n - 1n);
const uint32 = fc.nat({ max: 2 ** 32 - 1 });
const id = fc.uint8Array({ maxLength: 16 });
const text = fc.oneof(fc.constantFrom("gen_ai.system", "é", "x".repeat(70)), fc.string());
const key = fc.oneof(fc.constantFrom("a", "gen_ai.system", "k".repeat(70)), fc.string());

const anyValue = fc.letrec<{ any: MessageInitShape<typeof AnyValueSchema> }>((tie) => {
  const pairs = fc.array(fc.record({ key, value: tie("any") }), { maxLength: 3 });
  const value = fc.oneof(
    { maxDepth: 3 },
    fc.record({ case: fc.constant("stringValue" as const), value: text }),
    fc.record({ case: fc.constant("boolValue" as const), value: fc.boolean() }),
    fc.record({ case: fc.constant("intValue" as const), value: int64 }),
    fc.record({ case: fc.constant("doubleValue" as const), value: fc.double() }),
    fc.record({ case: fc.constant("bytesValue" as const), value: fc.uint8Array() }),
    fc.record({ case: fc.constant("stringValueStrindex" as const), value: fc.nat() }),
    fc.record({
      case: fc.constant("arrayValue" as const),
      value: fc.record({ values: fc.array(tie("any"), { maxLength: 3 }) }),
    }),
    fc.record({
      case: fc.constant("kvlistValue" as const),
      value: fc.record({ values: pairs }),
    }),
  );
  return { any: fc.record({ value }, { requiredKeys: [] }) };
}).any;

const attributes = fc.array(fc.record({ key, value: anyValue }, { requiredKeys: ["key"] }), {
  maxLength: 4,
});
const dropped = { droppedAttributesCount: uint32 };
const event = { timeUnixNano: uint64, name: text, attributes, ...dropped };
const link = { traceId: id, spanId: id, traceState: text, attributes, ...dropped, flags: uint32 };
const some = { requiredKeys: [] };
const span = fc.record(
  {
    traceId: id,
    spanId: id,
    traceState: text,
    parentSpanId: id,
    flags: uint32,
    name: text,
    kind: fc.nat({ max: 5 }),
    startTimeUnixNano: uint64,
    endTimeUnixNano: uint64,
    attributes,
    ...dropped,
    droppedEventsCount: uint32,
    droppedLinksCount: uint32,
    events: fc.array(fc.record(event, some), { maxLength: 2 }),
    links: fc.array(fc.record(link, some), { maxLength: 2 }),
    status: fc.record({ message: text, code: fc.nat({ max: 2 }) }, some),
  },
  some,
);
const scope = fc.record({ name: text, version: text, attributes, ...dropped }, some);
const scopeSpans = fc.record(
  { scope, spans: fc.array(span, { maxLength: 4 }), schemaUrl: text },
  some,
);
const resource = fc.record({ attributes, ...dropped }, some);
const body = fc
  .array(
    fc.record(
      { resource, scopeSpans: fc.array(scopeSpans, { maxLength: 2 }), schemaUrl: text },
      some,
    ),
    { maxLength: 3 },
  )
  .map((resourceSpans) => toBinary(traces, create(traces, { resourceSpans })));

/** Returns what the service reads, as bytes; undefined if it is malformed. */
async function read(bytes: Uint8Array, sizes: { readonly pieceBytes?: number } = {}) {
  try {
    await countProtobuf(traces, bytes, createPacer());
    const message = await parseProtobuf(traces, bytes, sizes);
    return Buffer.from(toBinary(traces, message as ReturnType<typeof create<typeof traces>>));
  } catch (error) {
    expect(error).toMatchObject({ reason: "MALFORMED_BODY" });
    return undefined;
  }
}

function readByLibrary(bytes: Uint8Array): Buffer | undefined {
  try {
    const message = fromBinary(traces, bytes, { readUnknownFields: false });
    return Buffer.from(toBinary(traces, message));
  } catch {
    return undefined;
  }
}

describe("spans", () => {
  test("are read as the library reads them", async () => {
    await fc.assert(
      fc.asyncProperty(body, async (bytes) => {
        const wanted = readByLibrary(bytes);

        expect(wanted).toBeDefined();
        expect(await read(bytes)).toEqual(wanted);
        expect(await read(bytes, { pieceBytes: 32 })).toEqual(wanted);
      }),
      { numRuns: 1_000 },
    );
  });

  test("are read as the library reads them where bytes differ from what is common", async () => {
    const changes = fc.array(fc.record({ at: fc.nat(), byte: fc.nat({ max: 255 }) }), {
      minLength: 1,
      maxLength: 3,
    });
    let both = 0;
    await fc.assert(
      fc.asyncProperty(body, changes, async (common, list) => {
        const bytes = Uint8Array.from(common);
        for (const { at, byte } of list) if (bytes.length > 0) bytes[at % bytes.length] = byte;

        const got = await read(bytes);

        // What the scan refuses is not decoded at all.
        if (got !== undefined) {
          both += 1;
          expect(got).toEqual(readByLibrary(bytes));
        }
      }),
      { numRuns: 3_000 },
    );
    expect(both).toBeGreaterThan(300);
  });

  test("of another type on the wire are what the library makes of them", async () => {
    const scopeSpans = [16, 3, 26, 1, 97];
    const bytes = Buffer.from([10, 7, 18, 5, ...scopeSpans]);

    expect(readByLibrary(bytes)).toBeDefined();
    expect(await read(bytes)).toEqual(readByLibrary(bytes));
  });

  test.each([
    { name: "an unknown field", bytes: Buffer.from([0xfa, 0x01, 1, 0]) },
    { name: "an unknown kind", bytes: Buffer.from([48, 9]) },
    { name: "two statuses", bytes: Buffer.from([122, 2, 24, 1, 122, 3, 18, 1, 97]) },
    { name: "a field of another type", bytes: Buffer.from([80, 1, 82, 1, 97]) },
    { name: "an attribute of two values", bytes: Buffer.from([74, 8, 18, 2, 16, 1, 18, 2, 24, 3]) },
    { name: "a value of two cases", bytes: Buffer.from([74, 6, 18, 4, 16, 1, 24, 3]) },
  ])("with $name are left to the library", ({ bytes }) => {
    expect(createSpanReader(bytes)(0, bytes.length)).toBeUndefined();
  });

  test("have one text for a name that occurs again, and others of the same length", () => {
    const names = ["gen_ai.system", "gen_ai.prompt", "gen_ai.system"];
    const pairs = names.map((name) => create(KeyValueSchema, { key: name }));
    const bytes = toBinary(
      SpanSchema,
      create(SpanSchema, { name: "gen_ai.prompt", attributes: pairs }),
    );

    const got = createSpanReader(bytes)(0, bytes.length);

    expect(got?.name).toBe("gen_ai.prompt");
    expect(got?.attributes.map((pair) => pair.key)).toEqual(names);
  });
});
