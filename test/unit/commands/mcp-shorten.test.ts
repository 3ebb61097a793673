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

  test("says how to ask for less where cut texts do not help", () => {
    const text = JSON.stringify(Array.from({ length: 50_000 }, (_, n) => `${n}`));

    expect(() => shortenAnswer(text)).toThrow(/fewer at once/);
  });
});
