// Questions about the scores of an evaluator, and their average.

import { describe, expect, test } from "vitest";
import type { Answer } from "../../../src/web/app/pages/charts/answer.ts";
import { averageOf, scoredFilters } from "../../../src/web/app/pages/evaluators/scores.ts";

describe("scoredFilters", () => {
  test.each([
    { hint: "model", want: { operator: "is not", value: "session" } },
    { hint: "session", want: { operator: "is", value: "session" } },
    // Each has a score of its own, so that neither counts twice.
    { hint: "model, session", want: { operator: "is not", value: "" } },
  ])("counts the events of the types $hint", ({ hint, want }) => {
    const [ofType] = scoredFilters({ name: "metrics.depth", type: "decimal", hint });

    expect(ofType).toEqual({ field: "event_type", ...want });
  });
});

describe("averageOf", () => {
  const answerOf = (...series: readonly (readonly (number | null)[])[]) =>
    ({ series: series.map((values) => ({ values })) }) as unknown as Answer;

  test("weighs each day by its scores", () => {
    expect(averageOf(answerOf([1, null, 0.5], [1, 0, 3]))).toBe(0.625);
  });

  test("is absent without a score", () => {
    expect(averageOf(answerOf([null], [0]))).toBeUndefined();
  });
});
