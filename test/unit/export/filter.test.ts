// Parsing of filters and times of requests, and refusals.

import { describe, expect, test } from "vitest";
import { ServiceError } from "../../../src/base/errors.ts";
import type { Condition, Test } from "../../../src/tracing/export/condition.ts";
import { type FilterInput, parseFilters } from "../../../src/tracing/export/filter.ts";
import { parseInstant } from "../../../src/tracing/export/instant.ts";
import type { ProjectFields } from "../../../src/tracing/fields/fields.ts";
import { kinds } from "../../../src/tracing/fields/kind.ts";
import { parsePath } from "../../../src/tracing/fields/path.ts";

const recorded = catalogue({
  "metadata.run_id": kinds.string,
  "metadata.score": kinds.integer | kinds.decimal,
  "metadata.flag": kinds.boolean,
  "metadata.mixed": kinds.string | kinds.integer,
  "metadata.number_or_flag": kinds.integer | kinds.boolean,
  "metadata.gone": kinds.null,
  "metadata.tags.*": kinds.string,
  "metadata.object.inside": kinds.string,
  "metadata.hollow": kinds.empty,
  "metadata.honeyhive\\.inputs\\.x": kinds.string,
  "metadata.honeyhive.inputs.x": kinds.string,
  "metadata.honeyhive.inputs\\.x": kinds.string,
  "inputs.chat_history.*.content": kinds.string,
});

function catalogue(types: Record<string, number>, isComplete = true): ProjectFields {
  const fields = Object.entries(types).map(([path, bits]) => ({
    path: parsePath(path),
    eventType: "model",
    types: bits,
  }));
  return { fields, isComplete };
}

function parse(filter: FilterInput, fields = recorded): Condition {
  const [condition] = parseFilters([filter], fields);
  if (condition === undefined) throw new Error("no condition");
  return condition;
}

function faultOf(filter: FilterInput, fields = recorded): string {
  try {
    parse(filter, fields);
  } catch (error) {
    if (error instanceof ServiceError && error.reason === "INVALID_FILTER") return error.message;
    throw error;
  }
  return "";
}

describe("parseFilters: the value's type", () => {
  const rows: { name: string; filter: FilterInput; want: Test }[] = [
    {
      name: "comes from the catalogue: a number sent as text is coerced",
      filter: { field: "metadata.score", operator: "is", value: " 0.50 " },
      want: { kind: "equals", value: 0.5 },
    },
    {
      name: "comes from the catalogue: a number asked of texts is a text",
      filter: { field: "metadata.run_id", operator: "is", value: 7 },
      want: { kind: "equals", value: "7" },
    },
    {
      name: "comes from the value where several kinds are recorded, a number",
      filter: { field: "metadata.mixed", operator: "is", value: 5 },
      want: { kind: "equals", value: 5 },
    },
    {
      name: "comes from the value where several kinds are recorded, a text",
      filter: { field: "metadata.mixed", operator: "is", value: "5" },
      want: { kind: "equals", value: "5" },
    },
    {
      name: "is a recorded one where the value's own is not",
      filter: { field: "metadata.number_or_flag", operator: "is", value: "5" },
      want: { kind: "equals", value: 5 },
    },
    {
      name: "is boolean for the words true and false where no text is recorded",
      filter: { field: "metadata.number_or_flag", operator: "is", value: "true" },
      want: { kind: "equals", value: true },
    },
    {
      name: "declared counts where several kinds are recorded",
      filter: { field: "metadata.mixed", operator: "is", value: "5", type: "number" },
      want: { kind: "equals", value: 5 },
    },
    {
      name: "declared gives way where no value has it: clients send `string` for all",
      filter: { field: "metadata.score", operator: "is", value: "5", type: "string" },
      want: { kind: "equals", value: 5 },
    },
    {
      name: "empty is none",
      filter: { field: "metadata.score", operator: "greater than", value: 5, type: "" },
      want: { kind: "above", bound: 5 },
    },
    {
      name: "id is text",
      filter: { field: "session_id", operator: "is", value: "s", type: "id" },
      want: { kind: "equals", value: "s" },
    },
    {
      name: "of `contains` is text",
      filter: { field: "metadata.mixed", operator: "contains", value: 5 },
      want: { kind: "contains", text: "5" },
    },
    {
      name: "of `greater than` is number",
      filter: { field: "metadata.mixed", operator: "less than", value: "5" },
      want: { kind: "below", bound: 5 },
    },
    {
      name: "of `after` is datetime, also on text",
      filter: { field: "metadata.run_id", operator: "after", value: "1970-01-01T00:00:01Z" },
      want: { kind: "after", instant: { fromUs: 1_000_000, toUs: 1_001_000 } },
    },
    {
      name: "of a time column is datetime",
      filter: { field: "start_time", operator: "less than", value: "1000" },
      want: { kind: "before", instant: { fromUs: 1_000_000, toUs: 1_001_000 } },
    },
    {
      name: "of a column is the column's, whatever was declared",
      filter: { field: "duration", operator: "greater than", value: "12.5", type: "string" },
      want: { kind: "above", bound: 12.5 },
    },
    {
      name: "of a field with nulls only comes from the value",
      filter: { field: "metadata.gone", operator: "is", value: 5 },
      want: { kind: "equals", value: 5 },
    },
  ];
  test.each(rows)("$name", ({ filter, want }) => {
    expect(parse(filter).test).toEqual(want);
  });
});

describe("parseFilters: presence", () => {
  test.each([
    { operator: "exists", value: undefined, negated: false },
    { operator: "not exists", value: undefined, negated: true },
    { operator: "is", value: null, negated: true },
    { operator: "is not", value: null, negated: false },
  ])("$operator $value", ({ operator, value, negated }) => {
    const got = parse({ field: "metadata.run_id", operator, value });

    expect(got).toMatchObject({ test: { kind: "present" }, negated });
  });

  test.each(["exists", "not exists"])("`%s` refuses a value that denies it", (operator) => {
    for (const value of [false, "false"]) {
      expect(faultOf({ field: "metadata.run_id", operator, value })).toContain("has no value");
    }
    expect(faultOf({ field: "metadata.run_id", operator, value: true })).toBe("");
    expect(faultOf({ field: "metadata.run_id", operator, value: "" })).toBe("");
  });

  test("`exists` may ask for a field that was never recorded", () => {
    expect(faultOf({ field: "metadata.nothing", operator: "exists" })).toBe("");
    expect(faultOf({ field: "metadata.nothing", operator: "not exists" })).toBe("");
  });

  test("`is` null may ask for an object", () => {
    expect(faultOf({ field: "metadata.object", operator: "is", value: null })).toBe("");
    expect(faultOf({ field: "metadata.hollow", operator: "is not", value: null })).toBe("");
  });
});

describe("parseFilters: refuses, naming the field", () => {
  const rows: { filter: FilterInput; want: RegExp }[] = [
    {
      filter: { field: "metadata.nothing", operator: "is", value: 1 },
      want: /^metadata\.nothing: no event has a value/,
    },
    {
      filter: { field: "metadata.nothing", operator: "is", value: null },
      want: /^metadata\.nothing: no event/,
    },
    {
      filter: { field: "metadata.run_i", operator: "is", value: "x" },
      want: /^metadata\.run_i: no event/,
    },
    {
      filter: { field: "metadata.hollow", operator: "is", value: "x" },
      want: /^metadata\.hollow: no event/,
    },
    {
      filter: { field: "metadata.object", operator: "is", value: "x" },
      want: /name a field inside/,
    },
    { filter: { field: "metadata.tags", operator: "is", value: "x" }, want: /name a field inside/ },
    {
      filter: { field: "metadata", operator: "contains", value: "x" },
      want: /^metadata: .*inside/,
    },
    { filter: { field: "cost", operator: "is", value: 1 }, want: /^cost: no such field/ },
    { filter: { field: "toString", operator: "is", value: 1 }, want: /^toString: no such field/ },
    { filter: { field: "metadatas.x", operator: "exists" }, want: /^metadatas\.x: no such field/ },
    { filter: { field: "", operator: "exists" }, want: /^filters\[0\].field: no such field/ },
    {
      filter: { field: "source", operator: "equals", value: 1 },
      want: /^source: the operator must be one of .*, not "equals"$/,
    },
    {
      filter: { field: "source", operator: "is", value: 1, type: "text" },
      want: /^source: the type must be/,
    },
    { filter: { field: "source", operator: "is" }, want: /^source: `is` needs a value/ },
    { filter: { field: "source", operator: "contains", value: null }, want: /other than null/ },
    {
      filter: { field: "source", operator: "is", value: ["a"] },
      want: /^source: the value must be/,
    },
    {
      filter: { field: "source", operator: "greater than", value: "a" },
      want: /compares numbers and times/,
    },
    { filter: { field: "source", operator: "after", value: "2024-01-01" }, want: /compares times/ },
    { filter: { field: "duration", operator: "is", value: " " }, want: /^duration: .*blank/ },
    { filter: { field: "duration", operator: "is", value: "" }, want: /^duration: .*blank/ },
    { filter: { field: "duration", operator: "is", value: "NaN" }, want: /finite/ },
    {
      filter: { field: "duration", operator: "is", value: Number.POSITIVE_INFINITY },
      want: /finite/,
    },
    { filter: { field: "duration", operator: "is", value: true }, want: /finite/ },
    { filter: { field: "duration", operator: "is", value: "0x10" }, want: /decimal/ },
    { filter: { field: "duration", operator: "contains", value: "5" }, want: /looks into text/ },
    {
      filter: { field: "metadata.score", operator: "is", value: "much" },
      want: /^metadata\.score: .*finite/,
    },
    {
      filter: { field: "metadata.run_id", operator: "is", value: "", type: "number" },
      want: /blank/,
    },
    { filter: { field: "metadata.flag", operator: "is", value: "yes" }, want: /true or false/ },
    {
      filter: { field: "start_time", operator: "after", value: "yesterday" },
      want: /^start_time: .*ISO 8601/,
    },
    { filter: { field: `metadata.${"x".repeat(2_000)}`, operator: "exists" }, want: /too long/ },
  ];
  test.each(rows)("$filter.field $filter.operator $filter.value", ({ filter, want }) => {
    expect(faultOf(filter)).toMatch(want);
  });

  test("more filters than anyone needs", () => {
    const many = Array.from({ length: 101 }, () => ({ field: "source", operator: "exists" }));

    expect(() => parseFilters(many, recorded)).toThrow(/at most 100/);
  });
});

describe("parseFilters: paths", () => {
  function pathsOf(field: string, fields = recorded) {
    const { target } = parse({ field, operator: "exists" }, fields);
    return target.kind === "bucket" ? target.paths.map((path) => path.map(String)) : [];
  }

  test("the longest literal key comes first, then nesting", () => {
    expect(pathsOf("metadata.honeyhive.inputs.x")).toEqual([
      ["honeyhive.inputs.x"],
      ["honeyhive", "inputs.x"],
      ["honeyhive", "inputs", "x"],
    ]);
  });

  test("an array's position is taken from the name", () => {
    expect(pathsOf("inputs.chat_history.12.content")).toEqual([["chat_history", "12", "content"]]);
  });

  test("`*` stands for every position, as the schema writes it", () => {
    expect(pathsOf("inputs.chat_history.*.content")).toEqual([
      ["chat_history", "Symbol(*)", "content"],
    ]);
  });

  test("only inside an object with too many fields may a field exist unrecorded", () => {
    const open = catalogue({
      "inputs.users.*.ids": kinds.open,
      "inputs.users.*.name": kinds.string,
    });
    const faultAt = (field: string) => faultOf({ field, operator: "is", value: "a" }, open);

    expect(faultAt("inputs.users.0.ids.17")).toBe("");
    expect(pathsOf("inputs.users.0.ids.1.x", open)).toContainEqual(["users", "0", "ids", "1", "x"]);
    expect(faultAt("inputs.users.0.never")).toContain("no event has a value");
    expect(faultAt("inputs.never")).toContain("no event has a value");
    expect(faultAt("metadata.ids.17")).toContain("no event has a value");
    expect(faultAt("inputs.users.0.ids")).toContain("holds objects");
  });

  test("a field past a full catalogue is not refused and read every way, within bounds", () => {
    const full = catalogue({ "metadata.run_id": kinds.string }, false);

    expect(faultOf({ field: "metadata.a.b", operator: "is", value: 1 }, full)).toBe("");
    expect(pathsOf("metadata.a.b", full)).toEqual([["a.b"], ["a", "b"]]);
    expect(pathsOf(`metadata.${"a.".repeat(30)}b`, full)).toHaveLength(16);
  });
});

describe("parseInstant", () => {
  const second = 1_709_164_800_000_000;
  test.each([
    { name: "a date", value: "2024-02-29", fromUs: second },
    { name: "a time in UTC without saying so", value: "2024-02-29 00:00:00", fromUs: second },
    { name: "a zone", value: "2024-02-29T02:30:00+02:30", fromUs: second },
    { name: "a zone without colon", value: "2024-02-28T22:00-0200", fromUs: second },
    { name: "fractions", value: "2024-02-29T00:00:00.123456Z", fromUs: second + 123_456 },
    { name: "a number", value: 1_709_164_800_000.001, fromUs: second + 1 },
    { name: "a number as text", value: "1709164800000", fromUs: second },
    { name: "small letters and a comma", value: "2024-02-29t00:00:00,5z", fromUs: second + 5e5 },
    { name: "a space before the zone", value: "2024-02-29 02:00:00 +02", fromUs: second },
    { name: "the last year", value: "9999-12-31", fromUs: 253_402_214_400_000_000 },
  ])("reads $name", ({ value, fromUs }) => {
    expect(parseInstant(value)?.fromUs).toBe(fromUs);
  });

  test.each([
    "",
    "2024-1-1",
    "2024-13-01",
    "2024-02-30",
    "2023-02-29",
    "2024-02-29T24:00",
    "2024-02-29T00:00+24:00",
    "2024-02-29T00:00:60",
    "0000-01-01",
    "now",
    null,
    true,
    NaN,
  ])("refuses %s", (value) => {
    expect(parseInstant(value)).toBeUndefined();
  });

  test("a whole millisecond stands for all of it, a finer time for itself", () => {
    expect(parseInstant(1)).toEqual({ fromUs: 1_000, toUs: 2_000 });
    expect(parseInstant(1.5)).toEqual({ fromUs: 1_500, toUs: 1_501 });
  });
});
