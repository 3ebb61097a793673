// Filters in words.

import { describe, expect, test } from "vitest";
import { describeFilter } from "../../../src/evaluation/why/why.ts";

describe("describeFilter", () => {
  test.each([
    { filter: { operator: "is", value: "prod" }, want: "metadata.env is prod" },
    { filter: { operator: "is not", value: null }, want: "metadata.env is not null" },
    { filter: { operator: "greater than", value: 2.5 }, want: "metadata.env greater than 2.5" },
    { filter: { operator: "is", value: false }, want: "metadata.env is false" },
    { filter: { operator: "not exists" }, want: "metadata.env not exists" },
    // Clients send a value with these operators too; it is ignored.
    { filter: { operator: "exists", value: "" }, want: "metadata.env exists" },
  ])("says $want", ({ filter, want }) => {
    expect(describeFilter({ field: "metadata.env", ...filter })).toBe(want);
  });

  test("cuts a long value", () => {
    const text = describeFilter({ field: "f", operator: "is", value: "x".repeat(5_000) });
    expect(text).toBe(`f is ${"x".repeat(200)}…`);
  });

  test("leaves no half of a surrogate pair", () => {
    const text = describeFilter({ field: "f", operator: "is", value: `${"x".repeat(199)}😀😀` });

    expect(text.isWellFormed()).toBe(true);
  });
});
