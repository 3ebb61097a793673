// Answers of `waggle mcp` that are too long for an agent.

import { describe, expect, test } from "vitest";
import { answerLengthMax, shortenAnswer } from "../../../src/commands/mcp/shorten.ts";

describe("shortenAnswer", () => {
  test("returns an answer that fits as it is", () => {
    const text = JSON.stringify({ a: "x".repeat(answerLengthMax - 10) });

    expect(shortenAnswer(text)).toBe(text);
  });

  test("cuts many long texts shorter than one, and leaves short ones", () => {
    const events = Array.from({ length: 20 }, (_, n) => ({ n, long: "y".repeat(100_000) }));

    const got = shortenAnswer(JSON.stringify({ events, note: "short" }));

    expect(got.length).toBeLessThanOrEqual(answerLengthMax);
    const { events: cut, note } = JSON.parse(got) as { events: { long: string }[]; note: string };
    expect(note).toBe("short");
    expect(cut).toHaveLength(20);
    expect(cut.every(({ long }) => long.includes("cut: 95000 more characters"))).toBe(true);
  });

  test("returns the parts of a text from where the last one was cut, and loses nothing", () => {
    const long = `${"🐝".repeat(250_000)} end`;
    let read = "";
    let from: number | undefined = 0;
    while (from !== undefined) {
      const got = shortenAnswer(JSON.stringify({ long, note: "short" }), { text_from: from });
      const { long: part, note } = JSON.parse(got) as { long: string; note: string };
      expect([got.length <= answerLengthMax, note]).toEqual([true, "short"]);
      read += part.replace(/^\[from character \d+\] …/, "").replace(/… \[cut: .*\]$/, "");
      const next = /text_from (\d+)\]$/.exec(part)?.[1];
      from = next === undefined ? undefined : Number(next);
    }

    expect(read === long).toBe(true);
  });

  test("cuts lists where cut texts do not help, and says how many items are missing", () => {
    const items = Array.from({ length: 50_000 }, (_, n) => `${n}`);

    const got = JSON.parse(shortenAnswer(JSON.stringify({ items, count: 50_000 }))) as {
      items: string[];
      count: number;
    };

    expect(got.count).toBe(50_000);
    expect(got.items).toHaveLength(1_001);
    expect(got.items.at(-1)).toMatch(/^\[cut: 49000 more items; /);
  });

  test("returns the items of a list from where the last one was cut, and loses none", () => {
    const items = Array.from({ length: 50_000 }, (_, n) => n);
    const read: number[] = [];
    let from: number | undefined = 0;
    while (from !== undefined) {
      const got = shortenAnswer(JSON.stringify({ items, few: [1] }), { items_from: from });
      const { items: part, few } = JSON.parse(got) as { items: (number | string)[]; few: number[] };
      expect([got.length <= answerLengthMax, few]).toEqual([true, [1]]);
      read.push(...part.filter((item) => typeof item === "number"));
      const next = /items_from (\d+) /.exec(String(part.at(-1)))?.[1];
      from = next === undefined ? undefined : Number(next);
    }

    expect(read).toEqual(items);
  });

  test("says how to ask for less where no cut helps", () => {
    const keys = Array.from({ length: 50_000 }, (_, n) => [`key ${n}`, n] as const);

    expect(() => shortenAnswer(JSON.stringify(Object.fromEntries(keys)))).toThrow(/fewer at once/);
  });
});
