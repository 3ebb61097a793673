// JSON of REST requests and answers: the reader, the writer, and both together.

import { create, type DescMessage, isMessage, type Message } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  AddTracesRequestSchema,
  ModelEventSchema,
} from "../../../gen/waggle/compat/v0/tracing_pb.js";
import { AlertFieldsSchema } from "../../../gen/waggle/v1/alert_pb.js";
import {
  CreateEventBatchRequestSchema,
  CreateEventBatchResponseSchema,
  CreateEventRequestSchema,
  EventSchema,
} from "../../../gen/waggle/v1/event_pb.js";
import {
  ExportEventsRequestSchema,
  ExportEventsResponseSchema,
} from "../../../gen/waggle/v1/export_pb.js";
import { FilterSchema } from "../../../gen/waggle/v1/filter_pb.js";
import type { ItemFault } from "../../../src/access/call.ts";
import { faultBytes } from "../../../src/base/decode/tally.ts";
import { FieldFault } from "../../../src/transport/rest/field-fault.ts";
import { type ItemList, messageReader } from "../../../src/transport/rest/json-reader.ts";
import { messageWriter, type WriteContext } from "../../../src/transport/rest/json-writer.ts";

function read(desc: DescMessage, json: unknown, isStrict = false) {
  const itemFaults: ItemFault[] = [];
  const made = { bytes: 0 };
  const lists: ItemList[] = [];
  const message = messageReader(desc)(json, {
    isStrict,
    itemFaults,
    loose: { count: 0 },
    made,
    lists,
  });
  for (const { length, readItem } of lists) {
    for (let index = 0; index < length; index += 1) readItem(index);
  }
  return { message: message as Message & Record<string, unknown>, itemFaults, made };
}

function faultOf(desc: DescMessage, json: unknown, isStrict = false): string {
  try {
    read(desc, json, isStrict);
  } catch (error) {
    if (error instanceof FieldFault) return error.text;
    throw error;
  }
  return "no fault";
}

const numbers: WriteContext = { isTextTimes: false, isNullFree: false, projections: undefined };

function write(desc: DescMessage, message: Message, context: Partial<WriteContext> = {}): unknown {
  const json = messageWriter(desc)(message, { ...numbers, ...context });
  return JSON.parse(JSON.stringify(json));
}

function nested(levels: number): unknown {
  return levels === 0 ? 1 : { deeper: nested(levels - 1) };
}

describe("messageReader", () => {
  test("passes free-form objects through untouched", () => {
    const inputs = JSON.parse('{"a":[1,{"b":null}],"__proto__":{"c":1}}') as object;

    const { message } = read(EventSchema, { inputs });

    expect(message["inputs"]).toBe(inputs);
  });

  test("names the lists that are given empty, beside those that are named", () => {
    const { message } = read(AlertFieldsSchema, { filters: [], projections: ["cost"] });
    const { message: named } = read(AlertFieldsSchema, {
      emptied_lists: ["filters"],
      projections: [],
    });
    const { message: none } = read(AlertFieldsSchema, { filters: null, emptied_lists: [] });

    expect(message["emptiedLists"]).toEqual(["filters"]);
    expect(named["emptiedLists"]).toEqual(["filters", "projections"]);
    expect(none["emptiedLists"]).toEqual([]);
  });

  test.each([
    { name: "a number", value: 1_700_000_000_000.25, want: 1_700_000_000_000.25 },
    { name: "numeric text", value: "1700000000000", want: 1_700_000_000_000 },
    { name: "ISO text", value: "2023-11-14T22:13:20Z", want: 1_700_000_000_000 },
    { name: "ISO text with a zone", value: "2023-11-14T23:13:20+01:00", want: 1_700_000_000_000 },
    { name: "microseconds", value: "2023-11-14T22:13:20.000250Z", want: 1_700_000_000_000.25 },
    { name: "the form of exports", value: "2023-11-14 22:13:20", want: 1_700_000_000_000 },
    { name: "a date", value: "2023-11-14", want: 1_699_920_000_000 },
    // The service refuses it, in the same words over every protocol.
    { name: "a number beyond all years", value: 1e300, want: 1e300 },
  ])("reads a time from $name", ({ value, want }) => {
    expect(read(EventSchema, { start_time: value }).message["startTime"]).toBe(want);
  });

  test.each([
    { value: "yesterday" },
    { value: "2023-02-30" },
    { value: "" },
    { value: true },
    { value: {} },
    { value: Infinity },
  ])("refuses $value as a time, naming the field", ({ value }) => {
    expect(faultOf(CreateEventRequestSchema, { event: { start_time: value } })).toBe(
      "event.start_time: must be a number (Unix milliseconds) or ISO 8601 text",
    );
  });

  test.each([
    { name: "a number for text", json: { event_name: 1 }, want: "event_name: must be a string" },
    { name: "text for a number", json: { duration: "1" }, want: "duration: must be a number" },
    {
      name: "an infinite number",
      json: { duration: Infinity },
      want: "duration: must be a finite number",
    },
    { name: "a list for an object", json: { inputs: [] }, want: "inputs: must be an object" },
    {
      name: "an infinite number inside an object",
      json: { inputs: { a: { b: [1, JSON.parse("1e999")] } } },
      want: "inputs.a.b[1]: must be a finite number",
    },
    {
      name: "a list item of the wrong type",
      json: { children_ids: ["a", 1] },
      want: "children_ids[1]: must be a string",
    },
    { name: "no list", json: { children_ids: "a" }, want: "children_ids: must be an array" },
  ])("refuses $name, naming the field", ({ json, want }) => {
    expect(faultOf(EventSchema, json)).toBe(want);
  });

  test.each([
    { value: 7, want: 7 },
    { value: "7", want: 7 },
    { value: 7.0, want: 7 },
  ])("reads the integer $value", ({ value, want }) => {
    expect(read(ExportEventsRequestSchema, { limit: value }).message["limit"]).toBe(want);
  });

  test.each([
    { value: 7.5, want: "limit: must be an integer" },
    { value: "", want: "limit: must be an integer" },
    { value: 2 ** 31, want: "limit: must be from -2147483648 to 2147483647" },
  ])("refuses $value as an integer", ({ value, want }) => {
    expect(faultOf(ExportEventsRequestSchema, { limit: value })).toBe(want);
  });

  test("takes null as absent and ignores unknown keys", () => {
    const { message } = read(EventSchema, { error: null, parent_id: null, colour: "red" });
    expect(message).toEqual(create(EventSchema));
  });

  test("takes proto names and JSON names", () => {
    const want = create(EventSchema, { eventId: "a" });
    expect(read(EventSchema, { event_id: "a" }).message).toEqual(want);
    expect(read(EventSchema, { eventId: "a" }).message).toEqual(want);
  });

  test("refuses unknown and legacy keys where it is strict", () => {
    expect(faultOf(EventSchema, { colour: "red" }, true)).toBe("colour: is not a known key");
    const batch = { events: [], is_single_session: true };
    expect(faultOf(CreateEventBatchRequestSchema, batch)).toBe("no fault");
    expect(faultOf(CreateEventBatchRequestSchema, batch, true)).toBe(
      "is_single_session: is not a known key",
    );
  });

  test("takes 128 levels in an object and refuses one more", () => {
    expect(faultOf(EventSchema, { inputs: nested(128) })).toBe("no fault");
    expect(faultOf(EventSchema, { inputs: nested(129) })).toBe(
      `inputs${".deeper".repeat(128)}: nests deeper than 128 levels`,
    );
  });

  test("takes 128 levels in a Value, too", () => {
    expect(faultOf(ModelEventSchema, { tool_choice: nested(128) })).toBe("no fault");
  });

  test("cuts names in a path", () => {
    expect(faultOf(EventSchema, { inputs: { ["x".repeat(1_000)]: Infinity } })).toBe(
      `inputs.${"x".repeat(128)}…: must be a finite number`,
    );
  });

  test("keeps the good items of a lenient list in their places and notes the others", () => {
    const { message, itemFaults } = read(CreateEventBatchRequestSchema, {
      events: [{ event_name: "a" }, { start_time: "soon" }, 5, { event_name: "d" }],
    });

    expect(message["events"]).toEqual([
      create(EventSchema, { eventName: "a" }),
      create(EventSchema),
      create(EventSchema),
      create(EventSchema, { eventName: "d" }),
    ]);
    expect(itemFaults).toEqual([
      {
        field: "events",
        index: 1,
        message: "start_time: must be a number (Unix milliseconds) or ISO 8601 text",
      },
      { field: "events", index: 2, message: "must be an object" },
    ]);
  });

  test("counts the memory of messages and of faults", () => {
    const event = { event_type: "tool", inputs: {} };
    const bytesOf = (events: readonly unknown[]) =>
      read(CreateEventBatchRequestSchema, { events }).made.bytes;
    const one = bytesOf([event]) - bytesOf([]);

    expect(one).toBeGreaterThanOrEqual(80);
    expect(bytesOf(Array.from({ length: 100 }, () => event)) - bytesOf([])).toBe(100 * one);
    expect(bytesOf(["no event"]) - bytesOf([])).toBe(faultBytes);
  });

  test("names the field of a fault in the older name of a lenient list", () => {
    const { itemFaults } = read(AddTracesRequestSchema, { logs: [{ inputs: "x" }] });
    expect(itemFaults[0]).toEqual({
      field: "logs",
      index: 0,
      message: "inputs: must be an object",
    });
  });

  test("reads any JSON value where the proto has Value", () => {
    const { message } = read(FilterSchema, { field: "a", operator: "is", value: 5 });
    expect(message["value"]).toMatchObject({ kind: { case: "numberValue", value: 5 } });
    expect(read(ModelEventSchema, { tool_choice: { type: "auto" } }).message).toHaveProperty(
      "toolChoice.kind.case",
      "structValue",
    );
  });

  test.each([
    { name: "by itself", desc: FilterSchema, json: { value: null }, path: "value.kind.case" },
    {
      name: "inside a list",
      desc: ExportEventsRequestSchema,
      json: { filters: [{ field: "a", operator: "is", value: null }] },
      path: "filters.0.value.kind.case",
    },
  ])("keeps a null $name where the proto has Value", ({ desc, json, path }) => {
    expect(read(desc, json).message).toHaveProperty(path, "nullValue");
  });
});

describe("messageWriter", () => {
  test("writes null where the document says or null, and leaves other absent fields out", () => {
    const json = write(EventSchema, create(EventSchema, { eventId: "a" }));
    expect(json).toEqual({ event_id: "a", parent_id: null, children_ids: [], error: null });
  });

  test("writes scalars without presence and lists always, and omit_empty lists when filled", () => {
    const response = create(CreateEventBatchResponseSchema, { success: true });
    expect(write(CreateEventBatchResponseSchema, response)).toEqual({
      event_ids: [],
      success: true,
    });
    response.errors = ["x"];
    expect(write(CreateEventBatchResponseSchema, response)).toHaveProperty("errors", ["x"]);
  });

  test("leaves what a projection did not ask for out of nested messages only", () => {
    const response = create(ExportEventsResponseSchema, { events: [{ eventId: "a" }] });
    const projections = new Set(["error"]);
    expect(write(ExportEventsResponseSchema, response, { projections })).toEqual({
      events: [{ event_id: "a", error: null }],
      totalEvents: 0,
      count: 0,
    });
  });

  test("writes times as whole milliseconds, or as text in UTC", () => {
    const event = create(EventSchema, { startTime: 1_700_000_000_999.75 });
    expect(write(EventSchema, event)).toHaveProperty("start_time", 1_700_000_000_999);
    expect(write(EventSchema, event, { isTextTimes: true })).toHaveProperty(
      "start_time",
      "2023-11-14 22:13:20",
    );
  });

  test("leaves out nulls for clients that refuse them", () => {
    const event = create(EventSchema, { eventId: "a" });
    expect(write(EventSchema, event)).toHaveProperty("error", null);
    expect(write(EventSchema, event, { isNullFree: true })).not.toHaveProperty("error");
  });

  test("uses the JSON name that the proto gives", () => {
    const request = create(ExportEventsRequestSchema, { dateRange: { gte: 1 } });
    expect(write(ExportEventsRequestSchema, request)).toHaveProperty("dateRange", { $gte: 1 });
  });
});

const jsonObject = fc
  .dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }))
  // JSON text has no negative zero.
  .map((value) => JSON.parse(JSON.stringify(value)) as Record<string, never>);
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const event = fc.record(
  {
    eventId: optional(fc.string()),
    eventType: optional(fc.string()),
    parentId: optional(fc.string()),
    error: optional(fc.string()),
    childrenIds: fc.array(fc.string()),
    inputs: optional(jsonObject),
    metadata: optional(jsonObject),
    startTime: optional(fc.integer({ min: 0, max: 4e12 })),
    duration: optional(fc.integer()),
  },
  { requiredKeys: [] },
);

describe("messageReader after messageWriter", () => {
  test("gives the message back", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 4 }), (events) => {
        const response = create(ExportEventsResponseSchema, {
          events: events.map(withoutAbsent),
          totalEvents: events.length,
        });
        const json = write(ExportEventsResponseSchema, response);
        const { message } = read(ExportEventsResponseSchema, json);
        expect(isMessage(message, ExportEventsResponseSchema)).toBe(true);
        expect(message).toEqual(response);
      }),
    );
  });
});

function withoutAbsent<T extends object>(record: T): T {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as T;
}
