// Comparison of runs: counts, direction, and the paired test against known values.
// Source: docs/decisions.md, 39.4.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compare as compareInSteps } from "../../../src/evaluation/runs/comparison.ts";
import { testDifferences } from "../../../src/evaluation/runs/paired-test.ts";
import type { KnownMetric, PassingRange } from "../../../src/evaluation/runs/passing.ts";
import type { RunEvent } from "../../../src/tracing/run-events/run-events.ts";
import { runAtOnce } from "../../support/spans.ts";

const compare = (...given: Parameters<typeof compareInSteps>) =>
  runAtOnce(compareInSteps(...given));

const runOf = (scores: Readonly<Record<string, number>>, range?: PassingRange) => ({
  events: Object.entries(scores).map(([datapointId, quality]): RunEvent => {
    const ids = { eventId: `e-${datapointId}`, sessionId: `s-${datapointId}`, datapointId };
    const kind = { eventType: "chain", eventName: "answer", hasFailed: false };
    return { ...ids, ...kind, metrics: { quality } };
  }),
  judging: { passingRanges: range ? { quality: range } : {}, metrics: new Map() },
});

describe("a comparison", () => {
  const older = { a: 1, b: 2, c: 3, gone: 9 };
  const newer = { a: 2, b: 2, c: 1, added: 9 };

  test("lists what improved, degraded and stayed, of common datapoints", () => {
    const { metrics, commonDatapoints } = compare(runOf(older), runOf(newer), "average");

    expect(commonDatapoints).toEqual(["a", "b", "c"]);
    expect(metrics).toMatchObject([
      {
        metricName: "quality",
        improved: ["a"],
        same: ["b"],
        degraded: ["c"],
        oldAggregate: 3.75,
        newAggregate: 3.5,
        difference: -0.25,
        isSmallerBetter: false,
        pairedTest: { n: 3 },
      },
    ]);
    expect(metrics[0]?.percentageChange).toBeCloseTo(-6.6667, 3);
  });

  test("takes smaller scores as better where only an upper bound passes", () => {
    const { metrics } = compare(runOf(older), runOf(newer, { max: 5 }), "average");

    expect(metrics).toMatchObject([{ improved: ["c"], degraded: ["a"], isSmallerBetter: true }]);
  });

  test("finds the scores of a function that was renamed, and tells which run has which", () => {
    const other = runOf(newer);
    const renamed = other.events.map((event) => ({ ...event, eventName: "reply" }));

    const { eventKinds, metrics } = compare(runOf(older), { ...other, events: renamed }, "average");

    expect(eventKinds).toEqual([
      { eventName: "reply", eventType: "chain", presence: "new" },
      { eventName: "answer", eventType: "chain", presence: "old" },
    ]);
    expect(metrics).toMatchObject([{ eventName: "reply", improved: ["a"], degraded: ["c"] }]);
  });

  test("keeps events of several names apart", () => {
    const one = runOf(newer);
    const two = one.events.map((event) => ({ ...event, eventName: "reply" }));
    const both = { ...one, events: [...one.events, ...two] };

    const { metrics } = compare(runOf(older), both, "average");

    expect(metrics.map(({ eventName, oldValues }) => [eventName, oldValues.length])).toEqual([
      ["answer", 4],
      ["reply", 0],
    ]);
  });

  test.each([
    { name: "equal scores", several: [0.7, 0.7, 0.7], one: 0.7 },
    { name: "scores around the other", several: [0.1, 0.7], one: 0.4 },
  ])("takes no rounding of a mean of $name for a difference", ({ several, one }) => {
    const repeated = [runOf({ a: 0, b: 0, c: 0 }), runOf({ a: one, b: one, c: one })] as const;
    const attempts = repeated[0].events.flatMap((event) =>
      several.map((quality) => ({ ...event, metrics: { quality } })),
    );

    const { metrics } = compare({ ...repeated[0], events: attempts }, repeated[1], "average");

    expect(metrics).toMatchObject([
      { same: ["a", "b", "c"], difference: 0, pairedTest: { meanDifference: 0, pValue: 1 } },
    ]);
  });

  test("counts texts, and names the datapoints with another one", () => {
    const metric = { name: "mood", type: "LLM", threshold: { passing_categories: ["glad"] } };
    const moodsOf = (moods: Readonly<Record<string, readonly string[]>>) => ({
      events: Object.entries(moods).flatMap(([datapointId, texts]) =>
        texts.map((mood, at): RunEvent => {
          const ids = { eventId: `e${at}`, sessionId: `s-${datapointId}`, datapointId };
          const kind = { eventType: "chain", eventName: "answer", hasFailed: false };
          return { ...ids, ...kind, metrics: { mood } };
        }),
      ),
      judging: { passingRanges: {}, metrics: new Map([["mood", metric as KnownMetric]]) },
    });
    const before = { a: ["sad"], b: ["glad"], c: ["sad"], d: ["glad", "sad"], gone: ["sad"] };
    const after = { a: ["glad"], b: ["sad"], c: ["angry"], d: ["sad", "glad"], added: ["sad"] };

    const { metrics } = compare(moodsOf(before), moodsOf(after), "average");

    expect(metrics).toMatchObject([
      {
        metricName: "mood",
        oldAggregate: null,
        improved: ["a"],
        degraded: ["b"],
        same: ["d"],
        changed: ["a", "b", "c"],
        oldTexts: { sad: 4, glad: 2 },
        newTexts: { glad: 2, sad: 3, angry: 1 },
        pairedTest: undefined,
      },
    ]);
  });

  test("has counts that add up", () => {
    const scores = fc.dictionary(fc.constantFrom("a", "b", "c", "d", "e"), fc.integer());
    fc.assert(
      fc.property(scores, scores, (one, two) => {
        const { metrics, commonDatapoints } = compare(runOf(one), runOf(two), "sum");
        for (const { improved, degraded, same, pairedTest } of metrics) {
          const ids = [...improved, ...degraded, ...same];
          expect(ids.toSorted()).toEqual([...commonDatapoints].toSorted());
          expect(pairedTest?.n ?? 0).toBe(ids.length < 2 ? 0 : ids.length);
        }
        const turned = compare(runOf(two), runOf(one), "sum").metrics;
        expect(turned.map(({ degraded }) => degraded.toSorted())).toEqual(
          metrics.map(({ improved }) => improved.toSorted()),
        );
      }),
    );
  });
});

describe("the paired t-test", () => {
  // The extra hours of sleep of "Student" (1908), as R's t.test(paired = TRUE) has them.
  const sleep = [1.2, 2.4, 1.3, 1.3, 0, 1, 1.8, 0.8, 4.6, 1.4];

  test("agrees with R", () => {
    const found = testDifferences(sleep);

    expect(found?.n).toBe(10);
    expect(found?.meanDifference).toBeCloseTo(1.58, 10);
    expect(found?.statistic).toBeCloseTo(4.0621, 4);
    expect(found?.pValue).toBeCloseTo(0.002833, 5);
    expect(found?.lower).toBeCloseTo(0.7001142, 5);
    expect(found?.upper).toBeCloseTo(2.4598858, 5);
  });

  // As scipy's ttest_1samp has them.
  test.each([
    { pairs: 6, around: 10, want: 2.2358694924900454e-12 },
    { pairs: 20, around: 100, want: 1.2670622332517964e-79 },
  ])("has the digits of a p-value near 0, such as $want", ({ pairs, around, want }) => {
    const differences = Array.from({ length: pairs }, () => [around - 1, around + 1]).flat();

    expect((testDifferences(differences)?.pValue ?? 0) / want).toBeCloseTo(1, 6);
  });

  const certain = { statistic: null, pValue: 0 };
  test.each([
    [[], undefined],
    [[1], undefined],
    [[2, 2], { n: 2, meanDifference: 2, ...certain, lower: 2, upper: 2 }],
    [[0.7, 0.7, 0.7], { n: 3, meanDifference: 0.7, ...certain, lower: 0.7, upper: 0.7 }],
    [[0, 0], { n: 2, meanDifference: 0, statistic: null, pValue: 1, lower: 0, upper: 0 }],
  ])("of %j is %j", (differences, want) => {
    expect(testDifferences(differences)).toEqual(want);
  });

  test("takes differences that are equal but for their rounding for equal ones", () => {
    const gains = [0.8 - 0.7, 0.3 - 0.2, 0.5 - 0.4, 1.1 - 1];

    expect(new Set(gains).size).toBeGreaterThan(1);
    const found = testDifferences(gains);
    expect(found).toMatchObject(certain);
    expect(found?.lower).toBe(found?.upper);
    expect(found?.meanDifference).toBeCloseTo(0.1, 12);
  });
});
