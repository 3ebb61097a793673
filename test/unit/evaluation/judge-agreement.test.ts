// Statistics of two raters against published worked examples, and their laws.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  correlate,
  estimateKappa,
  estimateShare,
  type Pair,
  summarise,
  weightsOf,
} from "../../../src/evaluation/reliability/agreement.ts";

const unweighted = weightsOf({ count: 0, values: [], weights: "none" });

describe("estimateShare", () => {
  // Newcombe, "Two-sided confidence intervals for the single proportion" (1998), table I, method 3.
  test.each([
    { successes: 81, n: 263, lower: 0.2553, upper: 0.3662 },
    { successes: 15, n: 148, lower: 0.0624, upper: 0.1605 },
    { successes: 0, n: 20, lower: 0, upper: 0.1611 },
    { successes: 1, n: 29, lower: 0.0061, upper: 0.1718 },
  ])("gives Wilson's interval of $successes of $n", ({ successes, n, lower, upper }) => {
    const got = estimateShare(successes, n);

    expect(got?.lower).toBeCloseTo(lower, 4);
    expect(got?.upper).toBeCloseTo(upper, 4);
  });

  test("is undefined without trials", () => {
    expect(estimateShare(0, 0)).toBeUndefined();
  });
});

describe("estimateKappa", () => {
  // Fleiss, "Statistical Methods for Rates and Proportions" (2nd edition), table 13.1: two raters
  // diagnose 100 patients; kappa is 0.68 with the interval 0.51 to 0.85.
  test("agrees with Fleiss on diagnoses of a hundred patients", () => {
    const table = [
      [75, 1, 4],
      [5, 4, 1],
      [0, 0, 10],
    ];

    const got = estimateKappa(table, unweighted);

    expect(got?.value).toBeCloseTo(0.676, 3);
    expect(got?.lower).toBeCloseTo(0.51, 1);
    expect(got?.upper).toBeCloseTo(0.85, 2);
  });

  // Agresti, "Categorical Data Analysis" (1990), married couples' ratings; figures of the R package
  // vcd, whose weights by default are equally spaced: kappa 0.1293 (0.0686), weighted 0.2374
  // (0.0783).
  const couples = [
    [7, 7, 2, 3],
    [2, 8, 3, 7],
    [1, 5, 4, 9],
    [2, 8, 9, 14],
  ];
  const spaced = (row: number, column: number) => 1 - Math.abs(row - column) / 3;

  test.each([
    { name: "kappa", weightOf: unweighted, value: 0.1293, error: 0.0686 },
    { name: "weighted kappa", weightOf: spaced, value: 0.2374, error: 0.0783 },
  ])("agrees with vcd on $name of couples", ({ weightOf, value, error }) => {
    const got = estimateKappa(couples, weightOf);

    expect(got?.value).toBeCloseTo(value, 4);
    expect(((got?.upper ?? 0) - (got?.value ?? 0)) / 1.959964).toBeCloseTo(error, 4);
  });

  test("is undefined where chance alone agrees always", () => {
    expect(estimateKappa([[5]], unweighted)).toBeUndefined();
    expect(estimateKappa([], unweighted)).toBeUndefined();
  });
});

/** Returns pairs of numbers, each of which is a level. */
function pairsOf(numbers: readonly (readonly [number, number])[]): Pair[] {
  return numbers.map(([human, judge]) => ({
    human,
    judge,
    humanLevel: human,
    judgeLevel: judge,
  }));
}

describe("correlate", () => {
  // Anscombe, "Graphs in Statistical Analysis" (1973), the first data set: 0.816.
  test("agrees with Anscombe", () => {
    const x = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5];
    const y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];

    const got = correlate(x.map((human, index) => ({ human, judge: y[index] ?? 0 })));

    expect(got).toBeCloseTo(0.81642, 5);
  });

  // Ten times 0.1 adds up to less than 1, so that a rounded mean is none of the scores.
  test("is undefined where each rater has one score alone", () => {
    const got = correlate(
      new Array<{ human: number; judge: number }>(10).fill({ human: 0.1, judge: 0.7 }),
    );

    expect(got).toBeUndefined();
  });
});

describe("summarise", () => {
  const levels = { count: 5, values: [0, 1, 2, 3, 4], weights: "quadratic" as const };
  const rating = fc.nat({ max: 4 });
  const ratings = fc.array(fc.tuple(rating, rating), { minLength: 1, maxLength: 60 });

  // Fleiss and Cohen (1973): with quadratic weights kappa is an intraclass correlation, which for
  // two raters is 1 - mean squared difference / (both variances + squared difference of means).
  test("gives quadratic kappa as an intraclass correlation", () => {
    fc.assert(
      fc.property(ratings, (numbers) => {
        const mean = (of: (pair: readonly [number, number]) => number) =>
          numbers.reduce((total, pair) => total + of(pair), 0) / numbers.length;
        const [a, b] = [mean(([x]) => x), mean(([, y]) => y)];
        const spread = mean(([x]) => (x - a) ** 2) + mean(([, y]) => (y - b) ** 2) + (a - b) ** 2;
        fc.pre(spread > 1e-9);

        const got = summarise(pairsOf(numbers), levels).kappa?.value;

        expect(got).toBeCloseTo(1 - mean(([x, y]) => (x - y) ** 2) / spread, 8);
      }),
    );
  });

  test("is 1 for a judge that agrees always, and does not depend on order", () => {
    fc.assert(
      fc.property(ratings, (numbers) => {
        const same = summarise(pairsOf(numbers.map(([x]) => [x, x])), levels);
        const turned = summarise(pairsOf(numbers.toReversed()), levels);
        const got = summarise(pairsOf(numbers), levels);

        expect(same.agreement?.value).toBe(1);
        expect(same.bias?.value).toBe(0);
        if (same.kappa !== undefined) expect(same.kappa.value).toBeCloseTo(1, 9);
        expect(turned.kappa?.value ?? 0).toBeCloseTo(got.kappa?.value ?? 0, 9);
      }),
    );
  });

  test("gives bias as judge minus human, and the mean absolute error", () => {
    const got = summarise(
      pairsOf([
        [1, 2],
        [3, 3],
        [4, 3],
        [0, 3],
      ]),
      levels,
    );

    expect(got).toMatchObject({ n: 4, meanAbsoluteError: 1.25, bias: { value: 0.75 } });
    expect(got.agreement?.value).toBe(0.25);
  });
});
