// Limits of an event, each at the limit and one past it.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import {
  errorLengthMax,
  escapedUnitsMax,
  eventBytesMax,
  eventValuesMax,
  keyLengthMax,
  listItemsMax,
  metadataValuesMax,
  nameLengthMax,
} from "../../../src/base/limits.ts";
import { weighFields } from "../../../src/tracing/events/event-limits.ts";
import { escapeJson } from "../../../src/tracing/events/postgres-text.ts";

function faultOf(fields: Parameters<typeof weighFields>[0]): string | undefined {
  const weighed = weighFields(fields);
  return "fault" in weighed ? weighed.fault : undefined;
}

const text = (length: number): string => "x".repeat(length);
/** A bucket of so many values: itself, a list and its items. */
const values = (count: number): JsonObject => ({
  list: Array.from({ length: count - 2 }, () => 0),
});
const ids = (count: number): string[] => Array.from({ length: count }, (_, at) => String(at));

describe("limits of an event", () => {
  test.each([
    {
      name: "length of its name",
      of: (more: number) => ({ event_name: text(nameLengthMax + more) }),
      want: `event_name: is longer than ${nameLengthMax} characters`,
    },
    {
      name: "length of its source",
      of: (more: number) => ({ source: text(nameLengthMax + more) }),
      want: `source: is longer than ${nameLengthMax} characters`,
    },
    {
      name: "length of its error",
      of: (more: number) => ({ error: text(errorLengthMax + more) }),
      want: `error: is longer than ${errorLengthMax} characters`,
    },
    {
      name: "children",
      of: (more: number) => ({ children_ids: ids(listItemsMax + more) }),
      want: `children_ids: has more than ${listItemsMax} items`,
    },
    {
      name: "length of a key, however deep",
      of: (more: number) => ({ inputs: { a: [{ [text(keyLengthMax + more)]: 1 }] } }),
      want: `inputs.a.0: has a key longer than ${keyLengthMax} characters`,
    },
    {
      name: "values",
      of: (more: number) => ({ inputs: values(eventValuesMax + more) }),
      want: `inputs: the event has more than ${eventValuesMax} values`,
    },
    {
      name: "values of all buckets",
      of: (more: number) => ({ inputs: values(eventValuesMax - 10), outputs: values(10 + more) }),
      want: `outputs: the event has more than ${eventValuesMax} values`,
    },
    {
      name: "values of metadata",
      of: (more: number) => ({ metadata: values(metadataValuesMax + more) }),
      want: `metadata: has more than ${metadataValuesMax} values, too many for its index`,
    },
    {
      name: "bytes",
      of: (more: number) => ({
        config: { a: 1 },
        inputs: { text: text(eventBytesMax - 100 + 200 * more) },
      }),
      want: `inputs: the event has more than ${eventBytesMax} bytes as JSON`,
    },
  ])("$name", ({ of, want }) => {
    expect(faultOf(of(0))).toBeUndefined();
    expect(faultOf(of(1))).toBe(want);
  });
});

describe("characters that Postgres cannot store", () => {
  test.each([
    { name: "NULs", value: "\0" },
    { name: "lone surrogates", value: "\ud800" },
    { name: "marks of escapes", value: "\ue000" },
  ])("$name take seven bytes, and an event has a limited number of them", ({ value }) => {
    const stored = escapeJson(JSON.stringify(value.repeat(10)));
    const half = value.repeat(escapedUnitsMax / 2);
    const want = /^(outputs|error): the event has more than 100000 characters that Postgres cannot/;

    expect(Buffer.byteLength(stored)).toBe(72);
    expect(faultOf({ inputs: { a: half }, outputs: { b: [half] } })).toBeUndefined();
    expect(faultOf({ inputs: { a: half }, outputs: { b: [`${half}${value}`] } })).toMatch(want);
    expect(faultOf({ error: half, inputs: { a: half }, outputs: { a: value.repeat(17) } })).toMatch(
      want,
    );
  });

  test("pairs of surrogates are none of them", () => {
    expect(faultOf({ inputs: { a: "😀".repeat(escapedUnitsMax + 1) } })).toBeUndefined();
  });
});

describe("bytes are those in Postgres", () => {
  const third = Math.floor(eventBytesMax / 3);

  test.each([
    { name: "control characters take six", value: "\u0001", bytes: 6 },
    { name: "quotes take two", value: '"', bytes: 2 },
    { name: "ideographs take three", value: "漢", bytes: 3 },
    { name: "an emoji takes four", value: "😀", bytes: 4 },
  ])("$name", ({ value, bytes }) => {
    const stored = escapeJson(JSON.stringify(value.repeat(10)));
    const count = Math.floor(eventBytesMax / bytes);

    expect(Buffer.byteLength(stored)).toBe(10 * bytes + 2);
    expect(faultOf({ outputs: { a: value.repeat(count - 100) } })).toBeUndefined();
    expect(faultOf({ outputs: { a: value.repeat(count + 1) } })).toMatch(
      /^outputs: .* bytes as JSON/,
    );
  });

  test("numbers with exponents have all their digits", () => {
    const long = Array.from({ length: Math.floor(eventBytesMax / 300) }, () => 1e300);
    const short = long.map(() => 1e20);

    expect(faultOf({ inputs: { a: short } })).toBeUndefined();
    expect(faultOf({ inputs: { a: long } })).toMatch(/bytes as JSON/);
    expect(faultOf({ inputs: { a: long.map(() => 1e-300) } })).toMatch(/bytes as JSON/);
  });

  test("of all buckets count together", () => {
    const bucket = { text: text(third) };

    expect(faultOf({ inputs: bucket, outputs: bucket })).toBeUndefined();
    expect(faultOf({ inputs: bucket, outputs: bucket, config: bucket })).toMatch(/bytes as JSON/);
  });
});
