// Result of a run: what passes, aggregates, and independence of the order of events.
// Source: docs/decisions.md, 27.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { aggregate, aggregateNames } from "../../../src/evaluation/runs/aggregate.ts";
import type { KnownMetric, PassingRange } from "../../../src/evaluation/runs/passing.ts";
import { resultOf as resultInSteps } from "../../../src/evaluation/runs/result.ts";
import type { RunEvent } from "../../../src/tracing/run-events/run-events.ts";
import { runAtOnce } from "../../support/spans.ts";

const resultOf = (...given: Parameters<typeof resultInSteps>) => runAtOnce(resultInSteps(...given));

const judging = (
  passingRanges: Record<string, PassingRange> = {},
  ...metrics: readonly KnownMetric[]
) => ({ passingRanges, metrics: new Map(metrics.map((metric) => [metric.name, metric])) });

const metric = (threshold: KnownMetric["threshold"]): KnownMetric => ({
  name: "quality",
  type: "PYTHON",
  threshold,
});

const event = (n: number, metrics: JsonObject): RunEvent => ({
  eventId: `e${n}`,
  sessionId: `s${n}`,
  eventType: "chain",
  eventName: "answer",
  datapointId: `d${n}`,
  hasFailed: false,
  metrics,
});

describe("a score passes", () => {
  const passes = (
    score: JsonObject[string],
    range: PassingRange | undefined,
    threshold: KnownMetric["threshold"],
  ): boolean => {
    const given = judging(range ? { quality: range } : {}, metric(threshold));
    return resultOf([event(1, { quality: score })], given, "average").failed.length === 0;
  };

  test.each([
    ["without range and threshold", -5, undefined, null, true],
    ["inside the range", 0.5, { min: 0.5, max: 1 }, null, true],
    ["not below the range", 0.4, { min: 0.5 }, null, false],
    ["by the range rather than the threshold", 0.4, { max: 0.5 }, { min: 0.9 }, true],
    ["by the threshold", 0.8, undefined, { min: 0.9 }, false],
    ["as the boolean that passes", false, undefined, { pass_when: false }, true],
    ["not as the other boolean", true, undefined, { pass_when: false }, false],
    ["as 1 where true passes", 1, undefined, { pass_when: true }, true],
    ["not as 0 where true passes", 0, undefined, { pass_when: true }, false],
    ["as a boolean in a range of numbers", true, { min: 1 }, null, true],
    ["as a passing category", "good", undefined, { passing_categories: ["good"] }, true],
    ["not as another category", "bad", undefined, { passing_categories: ["good"] }, false],
    ["not as a text in a range", "good", { min: 0 }, null, false],
    ["not as a text in the bounds of a threshold", "good", undefined, { min: 0 }, false],
  ] as const)("%s", (_, score, range, threshold, want) => {
    expect(passes(score, range, threshold)).toBe(want);
  });
});

test("a datapoint on which the application failed has not passed, whatever its scores", () => {
  const scored = event(1, { quality: 1 });
  const failed = { ...event(1, {}), eventId: "s1", eventType: "session", hasFailed: true };

  const result = resultOf([failed, scored, event(2, {})], judging(), "average");

  expect(result).toMatchObject({ passed: ["d2"], failed: ["d1"] });
  expect(result.details).toMatchObject([{ metricName: "quality", passed: ["d1"], failed: [] }]);
});

test("a result has scores by metric and by datapoint", () => {
  const events = [
    event(1, { quality: 1, quality_explanation: "because", kind: "a" }),
    event(2, { quality: 3, other_failure: "EXCEPTION: no" }),
    { ...event(1, {}), eventId: "s1", eventType: "session", eventName: "a session" },
  ];

  const result = resultOf(events, judging({ quality: { max: 2 } }, metric(null)), "average");

  expect(result).toMatchObject({ passed: ["d1"], failed: ["d2"] });
  const place = { eventName: "answer", eventType: "chain" };
  expect(result.details).toEqual([
    {
      ...place,
      metricName: "kind",
      metricType: "CLIENT_SIDE",
      aggregate: null,
      values: [],
      texts: { a: 1 },
      passingRange: undefined,
      passed: ["d1"],
      failed: [],
    },
    {
      ...place,
      metricName: "other",
      metricType: "CLIENT_SIDE",
      aggregate: null,
      values: [],
      texts: {},
      passingRange: undefined,
      passed: [],
      failed: ["d2"],
    },
    {
      ...place,
      metricName: "quality",
      metricType: "PYTHON",
      aggregate: 2,
      values: [1, 3],
      texts: {},
      passingRange: { max: 2 },
      passed: ["d1"],
      failed: ["d2"],
    },
  ]);
  expect(result.datapoints.map(({ datapointId, passed }) => [datapointId, passed])).toEqual([
    ["d1", true],
    ["d2", false],
  ]);
  expect(result.eventKinds).toEqual([
    { eventName: "a session", eventType: "session" },
    { eventName: "answer", eventType: "chain" },
  ]);
});

test("a score of null is no score, and its failure stands", () => {
  const events = [
    event(1, { quality: null, quality_explanation: "none" }),
    event(2, { quality: null, quality_failure: "no model" }),
    event(3, { quality: 1, quality_failure: "no model", quality_explanation: null }),
  ];

  const { details, passed, failed } = resultOf(events, judging({ quality: {} }), "average");

  expect(details.map((one) => [one.metricName, one.passed, one.failed])).toEqual([
    ["quality", ["d3"], ["d2"]],
  ]);
  expect([passed, failed]).toEqual([["d1", "d3"], ["d2"]]);
});

test("a datapoint of several scores passes when each of them does, whatever their order", () => {
  const again = { ...event(3, { quality: 3 }), datapointId: "d1" };
  const events = [event(1, { quality: 1 }), again, event(2, { quality: 2 })];
  const given = judging({ quality: { max: 2 } });

  for (const order of [events, events.toReversed()]) {
    const result = resultOf(order, given, "average");

    expect(result).toMatchObject({ passed: ["d2"], failed: ["d1"] });
    expect(result.details[0]).toMatchObject({ passed: ["d2"], failed: ["d1"] });
    expect(result.datapoints).toHaveLength(3);
  }
});

test.each([
  ["average", 2.5],
  ["sum", 10],
  ["count", 4],
  ["min", 1],
  ["max", 4],
  ["median", 2.5],
  ["p90", 3.7],
  ["p95", 3.85],
  ["p99", 3.97],
] as const)("%s interpolates linearly", (name, want) => {
  expect(aggregate(name, [4, 1, 3, 2])).toBeCloseTo(want, 10);
  expect(aggregate(name, [])).toBeNull();
});

// No negative zero, which sorts as zero and prints as zero, but is another value to `toBe`.
const number = fc.double({ noNaN: true, min: -1e9, max: 1e9 }).map((value) => value + 0);
const scores = fc.array(fc.oneof(number, fc.boolean()), { minLength: 1, maxLength: 30 });

test("aggregates and outcomes do not depend on the order of the events", () => {
  fc.assert(
    fc.property(
      scores,
      fc.constantFrom(...aggregateNames),
      fc.infiniteStream(fc.nat()),
      (list, name, keys) => {
        const events = list.map((score, n) => event(n, { quality: score }));
        const order = new Map(events.map((one) => [one, keys.next().value ?? 0]));
        const shuffled = events.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
        const given = judging({ quality: { min: 0 } });

        const one = resultOf(events, given, name);
        const two = resultOf(shuffled, given, name);

        expect(two.details[0]?.aggregate).toBe(one.details[0]?.aggregate);
        expect(two.passed.toSorted()).toEqual(one.passed.toSorted());
        expect(one.passed.length + one.failed.length).toBe(list.length);
      },
    ),
  );
});
