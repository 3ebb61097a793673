// What stands on an event of several people's scores. Source: docs/decisions.md, 45.3.

import { describe, expect, test } from "vitest";
import type { ScoreType } from "../../../src/evaluation/metrics/definition.ts";
import type { Score } from "../../../src/evaluation/scores/score.ts";
import { toStanding } from "../../../src/evaluation/queues/standing.ts";

/** Returns what stands of values, each of another person. */
function standingOf(returnType: ScoreType, ...values: readonly Score[]): Score | undefined {
  const scores = values.map((value, index) => ({
    reviewer: String(index),
    returnType,
    value,
    explanation: null,
  }));
  return toStanding(scores, returnType)?.score;
}

describe("toStanding", () => {
  test.each([
    { name: "one float", type: "float", values: [0.5], want: 0.5 },
    { name: "the mean of floats", type: "float", values: [1, 2, 6], want: 3 },
    // Ten tenths of 1 add up to less, and a threshold of 1 would fail the event.
    { name: "the float of all", type: "float", values: new Array<number>(10).fill(1), want: 1 },
    { name: "a mean of huge numbers", type: "float", values: [1.5e308, 1.5e308], want: 1.5e308 },
    {
      name: "the majority of booleans",
      type: "boolean",
      values: [true, false, false],
      want: false,
    },
    { name: "the first of a tie", type: "boolean", values: [true, false], want: true },
    {
      name: "the majority of categories",
      type: "categorical",
      values: ["a", "b", "c", "b"],
      want: "b",
    },
    {
      name: "the first of the most frequent categories",
      type: "categorical",
      values: ["c", "b", "a", "a", "b"],
      want: "b",
    },
    { name: "the last text", type: "string", values: ["well", "badly"], want: "badly" },
    { name: "nothing", type: "float", values: [], want: undefined },
  ] as const)("is $name", ({ type, values, want }) => {
    expect(standingOf(type, ...values)).toBe(want);
  });

  const base = { returnType: "boolean", explanation: null } as const;

  test("counts each person's last score, and none of another return type", () => {
    const scores = [
      { ...base, reviewer: "a", value: false },
      { ...base, reviewer: "b", value: true },
      { ...base, reviewer: "c", value: 0, returnType: "float" as const },
      { ...base, reviewer: "a", value: true },
    ];

    expect(toStanding(scores, "boolean")).toEqual({ score: true, explanation: null });
  });

  test("has the last explanation of what stands", () => {
    const scores = [
      { ...base, reviewer: "a", value: true, explanation: "kind" },
      { ...base, reviewer: "b", value: true },
      { ...base, reviewer: "c", value: false, explanation: "rude" },
    ];

    expect(toStanding(scores, "boolean")).toEqual({ score: true, explanation: "kind" });
  });
});
