// Rows as JSON: long ones, which are written in parts, read as short ones do.

import { expect, test } from "vitest";
import { createPacer } from "../../../src/base/pacer.ts";
import { escapeJson, unescapeJson } from "../../../src/tracing/events/postgres-text.ts";
import { isLong, writeJson } from "../../../src/tracing/events/row-json.ts";

test.each(["a", "\\", '"\n', "\\\0", "\\u0000", "x\uE000", "\uD83D", "😀", "a\uDE00"])(
  "writes a long text of %j as JSON.stringify does, escaped",
  async (piece) => {
    const text = (piece + "a".repeat(39)).repeat(40_000);
    const row = { [piece]: text, list: [text, 1, null], absent: undefined, empty: {}, none: [] };

    const json = await writeJson(row, createPacer());

    // Compared as booleans: a difference of megabytes is no readable message.
    expect(json === escapeJson(JSON.stringify(row))).toBe(true);
    expect(JSON.stringify(JSON.parse(unescapeJson(json))) === JSON.stringify(row)).toBe(true);
  },
);

test("splits no pair of surrogates", async () => {
  const text = `a${"😀".repeat(600_000)}`;

  expect((await writeJson(text, createPacer())) === JSON.stringify(text)).toBe(true);
});

test("counts the texts and values inside a value", () => {
  expect(isLong("abc", 3)).toBe(false);
  expect(isLong("abcd", 3)).toBe(true);
  expect(isLong({ a: [{ b: "x".repeat(50) }, "y".repeat(50)] }, 100)).toBe(true);
  expect(isLong({ a: [{ b: "x".repeat(20) }, "y".repeat(20)] }, 100)).toBe(false);
});
