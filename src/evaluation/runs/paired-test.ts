// Paired t-test, two-sided: whether the mean difference of pairs may be chance. The distribution
// is jstat's. Source: docs/experiments.md.

// @ts-expect-error The package has no types; Student has those that are used.
import jstat from "jstat";

/** Student's t-distribution. */
type Student = {
  /** Returns the probability of at most `x` with `freedom` degrees of freedom. */
  cdf(this: void, x: number, freedom: number): number;
  /** Returns the value that is not exceeded with probability `p`. */
  inv(this: void, p: number, freedom: number): number;
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
  if (n < 2) return undefined;
  const mean = differences.reduce((total, one) => total + one, 0) / n;
  const squares = differences.reduce((total, one) => total + (one - mean) ** 2, 0);
  const error = Math.sqrt(squares / (n - 1) / n);
  const pair = { n, meanDifference: mean };
  if (!(error > 0)) {
    return { ...pair, statistic: null, pValue: mean === 0 ? 1 : 0, lower: mean, upper: mean };
  }
  const statistic = mean / error;
  const { cdf, inv } = (jstat as { readonly studentt: Student }).studentt;
  const half = inv((1 + confidenceLevel) / 2, n - 1) * error;
  return {
    ...pair,
    statistic,
    pValue: Math.min(1, 2 * (1 - cdf(Math.abs(statistic), n - 1))),
    lower: mean - half,
    upper: mean + half,
  };
}
