// Answers of `waggle mcp` that are too long for an agent, and how it reads on in them.

import { describe, expect, test } from "vitest";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../src/base/json.ts";
import type { Reading } from "../../../src/commands/mcp/reading.ts";
import { answerLengthMax, shortenAnswer } from "../../../src/commands/mcp/shorten.ts";

function listOf<T>(count: number, toItem: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => toItem(n));
}

const manyKeys = (count: number, text: string): JsonObject =>
  Object.fromEntries(listOf(count, (n) => [`key ${n}`, `${n} ${text}`]));

function nested(depth: number): JsonValue {
  return depth === 0
    ? "in".repeat(200_000)
    : { [`"${depth}"`]: nested(depth - 1), n: "n".repeat(3_000) };
}

/** Reads an answer by what the marks of its cuts say and nothing else, and puts it together. */
function readWhole(text: string): { readonly whole: JsonValue; readonly calls: number } {
  const asked = new Set<string>();
  const call = (reading: Reading): JsonValue => {
    const got = shortenAnswer(text, reading);
    expect(got.length).toBeLessThanOrEqual(answerLengthMax);
    expect(asked).not.toContain(JSON.stringify(reading));
    asked.add(JSON.stringify(reading));
    return JSON.parse(got) as JsonValue;
  };
  const readOn = (mark: string): JsonValue => {
    const [, path = "", argument, start] =
      /the same call with path (.*?)(?: and (\w+_from) (\d+))? reads (?:on|it)\]?$/.exec(mark) ??
      [];
    const from = argument === undefined ? {} : { [argument]: Number(start) };
    const answer = call({ path: JSON.parse(path) as (string | number)[], ...from });
    return complete((answer as JsonObject)["value"] ?? null);
  };
  const complete = (value: JsonValue): JsonValue => {
    if (typeof value === "string") return completeText(value);
    if (isJsonArray(value)) {
      const last = value.at(-1);
      const isCut = typeof last === "string" && /^\[cut: \d+ more items; /.test(last);
      if (!isCut) return value.map(complete);
      return [...value.slice(0, -1).map(complete), ...(readOn(last) as JsonValue[])];
    }
    if (!isJsonObject(value)) return value;
    const parts = Object.entries(value).flatMap(([key, inner]) =>
      /^\[cut: \d+ more keys\]$/.test(key)
        ? Object.entries(readOn(inner as string) as JsonObject)
        : [[key, complete(inner)] as const],
    );
    return Object.fromEntries(parts);
  };
  const completeText = (value: string): JsonValue => {
    if (/^\[cut: an? .* reads it\]$/.test(value)) return readOn(value);
    const mark = /… \[cut: \d+ more characters; .*\]$/.exec(value);
    return mark === null ? value : value.slice(0, mark.index) + (readOn(mark[0]) as string);
  };
  return { whole: complete(call({})), calls: asked.size };
}

describe("shortenAnswer", () => {
  test("returns an answer that fits as it is", () => {
    const text = JSON.stringify({ a: "x".repeat(answerLengthMax - 10) });

    expect(shortenAnswer(text)).toBe(text);
  });

  test.each<{ name: string; answer: JsonValue; callsMax: number }>([
    { name: "a long text", answer: { a: `${"🐝".repeat(250_000)} end` }, callsMax: 4 },
    // Six characters each in JSON.
    { name: "a text of control characters", answer: { a: "\u0001".repeat(99_999) }, callsMax: 5 },
    { name: "a long list", answer: { few: [1], items: listOf(90_000, (n) => n) }, callsMax: 4 },
    { name: "an object of many keys", answer: { a: manyKeys(50_000, "") }, callsMax: 9 },
    {
      name: "long texts of several events",
      answer: { events: listOf(20, (n) => ({ event_id: `e${n}`, a: `${n}`.repeat(100_000) })) },
      callsMax: 25,
    },
    {
      name: "objects and lists of many parts in several events",
      answer: {
        events: listOf(3, (n) => ({
          event_id: `e${n}`,
          inputs: manyKeys(3_000, "y"),
          outputs: { messages: listOf(200, (m) => ({ m, content: "z".repeat(1_500) })) },
        })),
      },
      callsMax: 40,
    },
    { name: "deep nesting", answer: { events: [nested(128)] }, callsMax: 200 },
    {
      name: "a key that JavaScript sets apart",
      answer: JSON.parse(`{"a":{"__proto__":"${"p".repeat(300_000)}"}}`) as JsonValue,
      callsMax: 4,
    },
    {
      name: "list items of the same id",
      answer: { a: listOf(3, (n) => ({ id: "same", text: `${n}`.repeat(200_000) })) },
      callsMax: 9,
    },
  ])("loses nothing of $name to an agent that follows its marks", ({ answer, callsMax }) => {
    const { whole, calls } = readWhole(JSON.stringify(answer));

    expect(JSON.stringify(whole) === JSON.stringify(answer)).toBe(true);
    expect(calls).toBeLessThanOrEqual(callsMax);
  });

  test("returns an object with long keys as a list of pairs, whose keys can be read on", () => {
    const keys = listOf(5, (n) => `${n}`.repeat(65_536));
    const answer = { inputs: Object.fromEntries(keys.map((key) => [key, 1])) };

    const { whole } = readWhole(JSON.stringify(answer));

    expect(whole).toEqual({ inputs: keys.map((key) => [key, 1]) });
  });

  test("cuts many long texts shorter than one, and leaves short ones", () => {
    const events = listOf(20, (n) => ({ n, long: "y".repeat(100_000) }));

    const got = JSON.parse(shortenAnswer(JSON.stringify({ events, note: "short" }))) as {
      events: { long: string }[];
      note: string;
    };

    expect(got.note).toBe("short");
    expect(got.events).toHaveLength(20);
    const shares = got.events.map(({ long }) => long.indexOf("…"));
    expect(Math.min(...shares)).toBeGreaterThan(9_500);
  });

  test("shows some long items that can be read, not the beginnings of all", () => {
    const items = listOf(1_000, () => "x".repeat(1_500));

    const { a: got } = JSON.parse(shortenAnswer(JSON.stringify({ a: items }))) as { a: string[] };

    expect(got.length).toBeGreaterThan(100);
    expect(got.slice(0, -1).every((item) => item.length === 1_500)).toBe(true);
  });

  test("finds an event by its id, where the next answer has others before it", () => {
    const event = { event_id: "e", inputs: "x".repeat(300_000) };
    const path = ["events", "e", "inputs"];

    const first = shortenAnswer(JSON.stringify({ events: [event] }));
    const newer = {
      events: [
        { event_id: "newer", inputs: "y" },
        { ...event, inputs: "xyz" },
      ],
    };
    const second = shortenAnswer(JSON.stringify(newer), { path, text_from: 1 });

    const { events } = JSON.parse(first) as { events: { inputs: string }[] };
    expect(events[0]?.inputs).toContain(`path ${JSON.stringify(path)} and text_from 1`);
    expect(JSON.parse(second)).toEqual({ path, text_from: 1, value: "yz" });
  });

  const fields = ["fields"];
  const past = 'is past the end: at ["fields"] is a list of 3 items, counted from 0';
  const readings: { reading: Reading; want: unknown }[] = [
    { reading: { path: fields, items_from: 2 }, want: { path: fields, items_from: 2, value: [3] } },
    // Agents fill in arguments that they need not give.
    { reading: { path: fields, items_from: 1, text_from: 0 }, want: { value: [2, 3] } },
    { reading: { items_from: 0, text_from: 0 }, want: { fields: [1, 2, 3] } },
    { reading: { path: [], items_from: 1 }, want: { value: { note: "short", no: null } } },
    { reading: { path: ["none"] }, want: { value: [] } },
    { reading: { path: fields, items_from: 3 }, want: `items_from 3 ${past}` },
    { reading: { path: fields, items_from: 99 }, want: `items_from 99 ${past}` },
    {
      reading: { path: ["note"], text_from: 5 },
      want: 'text_from 5 is past the end: at ["note"] is a text of 5 characters, counted from 0',
    },
    {
      reading: { path: fields, text_from: 1 },
      want: 'text_from does not apply: at ["fields"] is a list of 3 items',
    },
    {
      reading: { path: ["note"], items_from: 1 },
      want: 'items_from does not apply: at ["note"] is a text of 5 characters',
    },
    {
      reading: { path: ["no"], items_from: 1 },
      want: 'items_from does not apply: at ["no"] is null',
    },
    {
      reading: { items_from: 1 },
      want: "items_from counts in one value: give its path too, as the mark of its cut does",
    },
    {
      reading: { path: ["field"] },
      want: 'path: the answer is an object of 4 keys, which does not have "field"',
    },
    {
      reading: { path: ["fields", 3] },
      want: 'path: at ["fields"] is a list of 3 items, which does not have 3',
    },
    {
      reading: { path: ["note", 0] },
      want: 'path: at ["note"] is a text of 5 characters, which does not have 0',
    },
  ];
  const named = readings.map((row) => ({ name: JSON.stringify(row.reading), ...row }));
  test.each(named)("answers $name", ({ reading, want }) => {
    const text = JSON.stringify({ fields: [1, 2, 3], note: "short", no: null, none: [] });
    const got = () => JSON.parse(shortenAnswer(text, reading)) as unknown;

    if (typeof want === "string") expect(got).toThrow(new Error(want));
    else expect(got()).toMatchObject(want as object);
  });
});
