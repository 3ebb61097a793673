// Statistics of two raters on the same events: agreement, Cohen's kappa, bias and correlation, with
// intervals at 95 %. Pure. Sources: Wilson (1927); Cohen (1960, 1968); Fleiss, Cohen and Everitt,
// "Large sample standard errors of kappa and weighted kappa" (1969); docs/judges.md.

// @ts-expect-error The package has no types; Normal has those that are used.
import jstat from "jstat";
import { meanOf } from "../../base/rounding.ts";
import { confidenceLevel, testDifferences } from "../runs/paired-test.ts";

/** The normal distribution. */
type Normal = {
  /** Returns the value that is not exceeded with probability `p`. */
  inv(this: void, p: number, mean: number, deviation: number): number;
};

export type Estimate = { readonly value: number; readonly lower: number; readonly upper: number };

/** Weights of pairs of different levels in kappa. */
export type Weights = "none" | "quadratic";

/** Two scores: the levels that they are in, and their numbers if they have an order. */
export type Pair = {
  readonly humanLevel: number;
  readonly judgeLevel: number;
  /** NaN without an order. */
  readonly human: number;
  readonly judge: number;
};

export type Levels = {
  readonly count: number;
  /** Numbers of the levels, for weights. */
  readonly values: readonly number[];
  readonly weights: Weights;
};

export type Summary = {
  readonly n: number;
  readonly agreement: Estimate | undefined;
  readonly kappa: Estimate | undefined;
  /** Mean of judge minus human. */
  readonly bias: { readonly value: number; readonly interval: Estimate | undefined } | undefined;
  readonly meanAbsoluteError: number | undefined;
  readonly correlation: number | undefined;
};

const { inv } = (jstat as { readonly normal: Normal }).normal;
const quantile = inv((1 + confidenceLevel) / 2, 0, 1);

/** Returns a share with Wilson's interval; undefined for no trials. */
export function estimateShare(successes: number, n: number): Estimate | undefined {
  if (n === 0) return undefined;
  const share = successes / n;
  const squared = quantile ** 2;
  const centre = (share + squared / (2 * n)) / (1 + squared / n);
  const spread = Math.sqrt((share * (1 - share)) / n + squared / (4 * n * n));
  const half = (quantile * spread) / (1 + squared / n);
  return { value: share, lower: Math.max(0, centre - half), upper: Math.min(1, centre + half) };
}

/**
 * Returns kappa of a square table of counts, with weights of agreement from 0 to 1. Undefined for
 * an empty table, or if chance alone agrees always, as with a single level.
 */
export function estimateKappa(
  table: readonly (readonly number[])[],
  weightOf: (row: number, column: number) => number,
): Estimate | undefined {
  const rows = table.map((row) => sum(row));
  const columns = table.map((_, column) => sum(table.map((row) => row[column] ?? 0)));
  const n = sum(rows);
  if (n === 0) return undefined;
  const each = table.map((_, index) => index);
  const rowMeans = each.map((i) => sum(each.map((j) => weightOf(i, j) * (columns[j] ?? 0))) / n);
  const columnMeans = each.map((j) => sum(each.map((i) => weightOf(i, j) * (rows[i] ?? 0))) / n);
  const expected = sum(each.map((i) => ((rows[i] ?? 0) / n) * (rowMeans[i] ?? 0)));
  if (1 - expected < 1e-12) return undefined;
  let observed = 0;
  for (const i of each) for (const j of each) observed += (at(table, i, j) / n) * weightOf(i, j);
  let spread = 0;
  for (const i of each) {
    for (const j of each) {
      const means = (rowMeans[i] ?? 0) + (columnMeans[j] ?? 0);
      const part = weightOf(i, j) * (1 - expected) - means * (1 - observed);
      spread += (at(table, i, j) / n) * part ** 2;
    }
  }
  const centre = (observed * expected - 2 * expected + observed) ** 2;
  const error = Math.sqrt(Math.max(0, spread - centre) / n) / (1 - expected) ** 2;
  const value = (observed - expected) / (1 - expected);
  const half = quantile * error;
  return { value, lower: Math.max(-1, value - half), upper: Math.min(1, value + half) };
}

function at(table: readonly (readonly number[])[], row: number, column: number): number {
  return table[row]?.[column] ?? 0;
}

/** Returns the weight of two levels: 1 for the same, 0 for the furthest or without an order. */
export function weightsOf({ values, weights }: Levels): (row: number, column: number) => number {
  if (weights === "none") return (row, column) => Number(row === column);
  const range = Math.max(...values) - Math.min(...values);
  return (row, column) => {
    if (row === column) return 1;
    const distance = ((values[row] ?? 0) - (values[column] ?? 0)) / range;
    return 1 - distance ** 2;
  };
}

/** Returns Pearson's correlation; undefined for fewer than two pairs, or a rater of one value. */
export function correlate(pairs: readonly Pick<Pair, "human" | "judge">[]): number | undefined {
  const n = pairs.length;
  const humanMean = meanOf(pairs.map(({ human }) => human)) ?? NaN;
  const judgeMean = meanOf(pairs.map(({ judge }) => judge)) ?? NaN;
  let [together, ofHuman, ofJudge] = [0, 0, 0];
  for (const { human, judge } of pairs) {
    together += (human - humanMean) * (judge - judgeMean);
    ofHuman += (human - humanMean) ** 2;
    ofJudge += (judge - judgeMean) ** 2;
  }
  const scale = Math.sqrt(ofHuman) * Math.sqrt(ofJudge);
  return n >= 2 && scale > 0 ? Math.max(-1, Math.min(1, together / scale)) : undefined;
}

/** Returns the statistics of pairs; without kappa if there are too many levels for a table. */
export function summarise(pairs: readonly Pair[], levels: Levels | undefined): Summary {
  const n = pairs.length;
  const same = pairs.filter(({ humanLevel, judgeLevel }) => humanLevel === judgeLevel).length;
  const hasNumbers = n > 0 && pairs.every(({ human, judge }) => !Number.isNaN(human - judge));
  const differences = hasNumbers ? pairs.map(({ human, judge }) => judge - human) : [];
  return {
    n,
    agreement: estimateShare(same, n),
    kappa: levels && estimateKappa(toTable(pairs, levels.count), weightsOf(levels)),
    bias: hasNumbers ? toBias(differences) : undefined,
    meanAbsoluteError: meanOf(differences.map(Math.abs)),
    correlation: hasNumbers ? correlate(pairs) : undefined,
  };
}

function toBias(differences: readonly number[]): Summary["bias"] {
  const value = meanOf(differences) ?? NaN;
  const test = testDifferences(differences);
  return { value, interval: test && { value, lower: test.lower, upper: test.upper } };
}

function toTable(pairs: readonly Pair[], count: number): number[][] {
  const table = Array.from({ length: count }, () => new Array<number>(count).fill(0));
  for (const { humanLevel, judgeLevel } of pairs) {
    const row = table[humanLevel];
    if (row !== undefined) row[judgeLevel] = (row[judgeLevel] ?? 0) + 1;
  }
  return table;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
