// Protobuf bodies: the limits that hold before they are decoded, decoding in pieces, which must
// give what decoding at once gives, and encoding in pieces.

import {
  create,
  type DescMessage,
  fromBinary,
  type JsonObject,
  type MessageInitShape,
  type MessageShape,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HealthCheckRequestSchema } from "../../../gen/grpc/health/v1/health_pb.js";
import { ExportTraceServiceRequestSchema } from "../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { CreateEventBatchRequestSchema, EventSchema } from "../../../gen/waggle/v1/event_pb.js";
import {
  ExportEventsRequestSchema,
  StreamEventsResponseSchema,
} from "../../../gen/waggle/v1/export_pb.js";
import { createByteBudget } from "../../../src/base/byte-budget.ts";
import {
  containersMax,
  listItemsMax,
  memberNameBytesMax,
  valuesMax,
} from "../../../src/base/limits.ts";
import { createPacer } from "../../../src/base/pacer.ts";
import { decodeProtobuf, parseProtobuf } from "../../../src/transport/decode/protobuf.ts";
import { countProtobuf } from "../../../src/transport/decode/protobuf-scan.ts";
import { toPieces as divide } from "../../../src/transport/encode/protobuf.ts";

const batch = CreateEventBatchRequestSchema;
const traces = ExportTraceServiceRequestSchema;
/** Messages of one type have one form, whether they are whole or in pieces. */
async function toPieces<Desc extends DescMessage>(desc: Desc, message: MessageShape<Desc>) {
  return (await divide(desc, message)) as MessageShape<Desc>;
}

const noLimit = () => createByteBudget(Infinity).open();

/** Bytes of a field, as often as said. */
function repeated(field: number, value: Uint8Array, times: number): Uint8Array {
  const one = new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(value).finish();
  return Buffer.concat(Array.from({ length: times }, () => one));
}

function inside(field: number, bytes: Uint8Array): Uint8Array {
  return repeated(field, bytes, 1);
}

const empty = new Uint8Array();

describe("decodeProtobuf", () => {
  const numbers = Buffer.concat(
    Array.from({ length: valuesMax / 1000 }, () => repeated(1, Buffer.from([0x20, 1]), 1000)),
  );
  const list = inside(6, Buffer.concat([numbers, repeated(1, Buffer.from([0x20, 1]), 1)]));
  const inputs = inside(1, Buffer.concat([inside(1, Buffer.from("a")), inside(2, list)]));

  test.each<{ name: string; desc: DescMessage; body: Uint8Array; says: string }>([
    {
      name: "empty spans",
      desc: traces,
      body: inside(1, inside(2, repeated(2, empty, listItemsMax + 1))),
      says: `spans: must have at most ${listItemsMax} items`,
    },
    {
      name: "empty messages in many lists",
      desc: traces,
      body: repeated(1, inside(2, repeated(2, empty, listItemsMax)), containersMax / listItemsMax),
      says: `${containersMax} objects and arrays`,
    },
    {
      name: "empty events",
      desc: batch,
      body: repeated(1, empty, listItemsMax + 1),
      says: `events: must have at most ${listItemsMax} items`,
    },
    {
      name: "children",
      desc: batch,
      body: inside(1, repeated(9, Buffer.from("x"), listItemsMax + 1)),
      says: `children_ids: must have at most ${listItemsMax} items`,
    },
    {
      name: "members",
      desc: batch,
      body: inside(1, inside(11, repeated(1, inside(1, Buffer.from("a")), listItemsMax + 1))),
      says: `fields: must have at most ${listItemsMax} items`,
    },
    {
      name: "bytes in a name",
      desc: batch,
      body: inside(1, inside(11, inside(1, inside(1, Buffer.alloc(memberNameBytesMax + 1, "n"))))),
      says: `a name of more than ${memberNameBytesMax} bytes`,
    },
    {
      name: "values of filters",
      desc: ExportEventsRequestSchema,
      body: repeated(2, inside(3, inside(6, repeated(1, Buffer.from([0x20, 1]), 50_000))), 2),
      says: `more than ${listItemsMax} values in fields that take any value`,
    },
    {
      name: "groups",
      desc: batch,
      body: Buffer.from([0x7b, 0x7c]),
      says: "no known type",
    },
    {
      // The fifth byte of a tag has four bits of the number; the library refuses others too.
      name: "bits in a tag",
      desc: batch,
      body: Buffer.from([0x8d, 0x80, 0x80, 0x80, 0x10, 0, 0, 0, 0]),
      says: "a number above 2^29 - 1",
    },
    {
      name: "numbers",
      desc: batch,
      body: inside(1, inside(11, inputs)),
      says: `${valuesMax} values`,
    },
  ])("refuses a body of too many $name", async ({ desc, body, says }) => {
    const message = expect.stringContaining(says) as string;
    await expect(decodeProtobuf(desc, body, noLimit())).rejects.toMatchObject({ message });
  });

  test("takes the memory of messages, by their kind", async () => {
    const spans = repeated(2, empty, 1_000);
    const memory = createByteBudget(1_000_000).open();

    await decodeProtobuf(traces, inside(1, inside(2, spans)), memory);

    // An empty span takes 271 bytes in Node 24.
    expect(memory.bytes()).toBeGreaterThan(271_000);
  });

  test("drops unknown fields", async () => {
    const body = repeated(900, Buffer.from("x"), 1_000);

    const message = await decodeProtobuf(HealthCheckRequestSchema, body, noLimit());

    expect(message).toEqual(create(HealthCheckRequestSchema));
  });

  test("counts a message as JSON counts it", async () => {
    const event = { inputs: { a: [1, 2, { b: null }] }, eventName: "n", childrenIds: ["x", "y"] };
    const bytes = toBinary(batch, create(batch, { events: [event] }));

    // The request, the event, inputs, the list and the object in it.
    const tally = await countProtobuf(batch, bytes, createPacer());
    expect(tally).toMatchObject({ containers: 5 });
  });

  test("any bytes are a message or MALFORMED_BODY, at once and in pieces", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        for (const sizes of [{}, { wholeBytes: 2, pieceBytes: 8 }]) {
          try {
            await countProtobuf(batch, bytes, createPacer());
            await parseProtobuf(batch, bytes, sizes);
          } catch (error) {
            expect(error).toMatchObject({ reason: "MALFORMED_BODY" });
          }
        }
      }),
      { numRuns: 3_000 },
    );
  });
});

const json = fc.jsonValue({ maxDepth: 5 });
const bucket = fc.dictionary(fc.string(), json) as fc.Arbitrary<JsonObject>;
const events = fc.array(
  fc.record(
    {
      eventId: fc.string(),
      eventName: fc.string(),
      startTime: fc.double({ noNaN: true }),
      childrenIds: fc.array(fc.string()),
      inputs: bucket,
      metadata: bucket,
    },
    { requiredKeys: [] },
  ),
  { maxLength: 5 },
);

/** Bytes of an entry of a Struct whose value is true. */
function aMember(key: string): Uint8Array {
  return inside(1, Buffer.concat([inside(1, Buffer.from(key)), inside(2, Buffer.from([0x20, 1]))]));
}

describe("in pieces", () => {
  const inputsNumber = EventSchema.field.inputs.number;
  const aList = (flag: number) => inside(6, inside(1, Buffer.from([0x20, flag])));
  const sizes = { wholeBytes: 4, pieceBytes: 16 };

  test("a batch is decoded as it is at once", async () => {
    await fc.assert(
      fc.asyncProperty(events, async (list) => {
        const init = { events: list, isSingleSession: true } as MessageInitShape<typeof batch>;
        const bytes = toBinary(batch, create(batch, init));

        const got = await parseProtobuf(batch, bytes, sizes);

        expect(got).toEqual(fromBinary(batch, bytes));
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    { name: "null after true", value: [Buffer.from([0x20, 1]), Buffer.from([0x08, 0])] },
    { name: "a list twice", value: [aList(1), aList(0)] },
    { name: "an object twice", value: [inside(5, aMember("a")), inside(5, aMember("b"))] },
    { name: "a list, an object and a list", value: [aList(1), inside(5, aMember("a")), aList(0)] },
  ])("a value that has $name is decoded as it is at once", async ({ value }) => {
    const member = Buffer.concat(value);
    const inputs = inside(
      1,
      Buffer.concat([inside(1, Buffer.from("name of a member")), inside(2, member)]),
    );
    const event = inside(batch.field.events.number, inside(inputsNumber, inputs));

    const got = await parseProtobuf(batch, event, sizes);

    expect(got).toEqual(fromBinary(batch, event));
  });

  test("large values are decoded and encoded as they are at once", async () => {
    const text = "é".repeat(70_000);
    const inputs = {
      text,
      list: Array.from({ length: 30_000 }, (_, index) => index / 3),
      deep: { deeper: [{ text }, [text, null, true]] },
      ["__proto__"]: "a name like any other",
      "\ufeffmark": "\ufeffa character like any other",
    };
    const event = { eventId: "large", inputs, metadata: { small: 1 } };
    const message = create(batch, { events: [event, { eventId: "small" }], singleSession: true });
    const bytes = toBinary(batch, message);

    const decoded = (await parseProtobuf(batch, bytes)) as typeof message;

    expect(toJson(batch, decoded)).toEqual(toJson(batch, message));
    const pieces = toBinary(batch, await toPieces(batch, message));
    expect(toJson(batch, fromBinary(batch, pieces))).toEqual(toJson(batch, message));
  });

  test("a member of a oneof is encoded as it is at once", async () => {
    const desc = StreamEventsResponseSchema;
    const value = { eventId: "a", inputs: { text: "x".repeat(100_000) } };
    const message = create(desc, { item: { case: "event", value } });

    const pieces = toBinary(desc, await toPieces(desc, message));

    expect(toJson(desc, fromBinary(desc, pieces))).toEqual(toJson(desc, message));
  });
});
