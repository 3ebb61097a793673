// Paired t-test, two-sided: whether the mean difference of pairs may be chance. The distributions
// are jstat's. Source: docs/experiments.md.

// @ts-expect-error The package has no types; Distributions has those that are used.
import jstat from "jstat";
import { differenceOf, meanOf } from "../../base/rounding.ts";

type Distributions = {
  /** Student's t-distribution. */
  readonly studentt: {
    /** Returns the value that is not exceeded with probability `p`. */
    inv(this: void, p: number, freedom: number): number;
  };
  /** Returns the regularized incomplete beta function. */
  ibeta(this: void, x: number, a: number, b: number): number;
};

export type PairedTest = {
  readonly n: number;
  readonly meanDifference: number;
  /** Null if all differences are equal. */
  readonly statistic: number | null;
  readonly pValue: number;
  /** Confidence interval of the mean difference. */
  readonly lower: number;
  readonly upper: number;
};

export const confidenceLevel = 0.95;

/** Returns the test of differences, newer minus older; undefined for fewer than two. */
export function testDifferences(differences: readonly number[]): PairedTest | undefined {
  const n = differences.length;
  const mean = meanOf(differences);
  if (n < 2 || mean === undefined) return undefined;
  const squares = differences.reduce((total, one) => total + (one - mean) ** 2, 0);
  const error = Math.sqrt(squares / (n - 1) / n);
  const pair = { n, meanDifference: mean };
  // Differences of decimals, such as 0.3 - 0.2 and 0.8 - 0.7, are rounded.
  if (differenceOf(mean + error, mean) === 0) {
    return { ...pair, statistic: null, pValue: mean === 0 ? 1 : 0, lower: mean, upper: mean };
  }
  const statistic = mean / error;
  const { studentt, ibeta } = jstat as Distributions;
  const freedom = n - 1;
  const half = studentt.inv((1 + confidenceLevel) / 2, freedom) * error;
  return {
    ...pair,
    statistic,
    // Both tails at once: 1 less a probability near 1 has no correct digit.
    pValue: ibeta(freedom / (freedom + statistic ** 2), freedom / 2, 1 / 2),
    lower: mean - half,
    upper: mean + half,
  };
}
