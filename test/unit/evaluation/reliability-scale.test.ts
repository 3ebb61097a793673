// How scores of two metrics compare, and the groups and buckets of a comparison.

import { describe, expect, test } from "vitest";
import { createPacer } from "../../../src/base/pacer.ts";
import {
  compareScores,
  type JudgedEvent,
  startOfBucket,
} from "../../../src/evaluation/reliability/groups.ts";
import {
  placePairs,
  type ScorePair,
  type Scored,
  scaleOf,
} from "../../../src/evaluation/reliability/scale.ts";

const float: Scored = { return_type: "float", categories: null };
const boolean: Scored = { return_type: "boolean", categories: null };
const text: Scored = { return_type: "string", categories: null };
const grades: Scored = {
  return_type: "categorical",
  categories: [
    { category: "Bad", score: 0 },
    { category: "Good", score: 10 },
  ],
};
const colours: Scored = {
  return_type: "categorical",
  categories: [{ category: "red", score: null }],
};

describe("scaleOf", () => {
  test.each([
    { name: "two booleans", human: boolean, judge: boolean, want: "boolean" },
    { name: "a boolean and a float", human: boolean, judge: float, want: "number" },
    { name: "categories with scores", human: grades, judge: grades, want: "ordered" },
    { name: "categories with scores and a float", human: grades, judge: float, want: "number" },
    { name: "categories without scores", human: colours, judge: grades, want: "category" },
    { name: "text", human: text, judge: float, want: "category" },
  ])("compares $name as $want", ({ human, judge, want }) => {
    expect(scaleOf(human, judge)).toBe(want);
  });
});

describe("placePairs", () => {
  test("makes each value a level while there are few", () => {
    const given = [
      { human: 1, judge: 3 },
      { human: 2, judge: 2 },
    ];

    const got = placePairs(given, { kind: "number", human: float, judge: float });

    expect(got).toMatchObject({ names: ["1", "2", "3"], binning: undefined });
    expect(got.pairs.map(({ humanLevel, judgeLevel }) => [humanLevel, judgeLevel])).toEqual([
      [0, 2],
      [1, 1],
    ]);
  });

  test("puts many values into ten bins of equal width, ends included", () => {
    const given: ScorePair[] = Array.from({ length: 101 }, (_, index) => ({
      human: index / 100,
      judge: 1 - index / 100,
    }));

    const got = placePairs(given, { kind: "number", human: float, judge: float });

    expect(got.binning).toBe("10 bins of equal width from 0 to 1");
    expect(got.names).toHaveLength(10);
    expect(got.pairs[0]).toMatchObject({ humanLevel: 0, judgeLevel: 9 });
    expect(got.pairs[100]).toMatchObject({ humanLevel: 9, judgeLevel: 0 });
  });

  test("leaves out scores of another kind than their metric's", () => {
    const given: ScorePair[] = [
      { human: "good", judge: "bad" },
      { human: "unheard of", judge: "good" },
    ];

    const got = placePairs(given, { kind: "ordered", human: grades, judge: grades });

    expect(got.pairs).toMatchObject([{ human: 10, judge: 0 }]);
  });
});

describe("startOfBucket", () => {
  // A Sunday.
  const timeMs = Date.UTC(2026, 10, 1, 23, 59);

  test.each([
    { bucket: "day" as const, want: "2026-11-01" },
    { bucket: "week" as const, want: "2026-10-26" },
    { bucket: "month" as const, want: "2026-11-01" },
  ])("is $want for a $bucket", ({ bucket, want }) => {
    expect(startOfBucket(timeMs, bucket)).toBe(want);
  });
});

describe("compareScores", () => {
  function judged(eventId: string, version: number, scores: ScorePair): JudgedEvent {
    const startMs = Date.UTC(2026, 0, 1);
    return { eventId, version, startMs, model: undefined, judgeModel: "m", ...scores };
  }

  test("counts an event once, by its newest version, and each version by itself", async () => {
    const given = [
      judged("a", 2, { human: 5, judge: 5 }),
      judged("a", 1, { human: 5, judge: 1 }),
      judged("b", 1, { human: 4, judge: 3 }),
    ];

    const got = await compareScores(
      given,
      { kind: "number", human: float, judge: float },
      { bucket: "day", pacer: createPacer() },
    );

    expect(got.overall).toMatchObject({ n: 2, meanAbsoluteError: 0.5 });
    expect(got.byVersion.map(({ key, summary }) => [key, summary.n])).toEqual([
      [1, 2],
      [2, 1],
    ]);
    expect(got.byScore.map(({ key, summary }) => [key, summary.bias?.value])).toEqual([
      ["4", -1],
      ["5", 0],
    ]);
    expect(got.byModel.map(({ key }) => key)).toEqual(["none"]);
    expect(got.worst).toMatchObject([{ eventId: "b", difference: -1 }]);
  });
});
