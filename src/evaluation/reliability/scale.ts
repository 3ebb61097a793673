// Compares the scores of two metrics as booleans, categories, categories in order, or numbers, and
// puts scores into levels. Source: docs/judges.md; docs/decisions.md, 46.3.

import type { Definition } from "../metrics/definition.ts";
import type { Score } from "../scores/score.ts";
import type { Levels, Pair } from "./agreement.ts";

export type ScaleKind = "boolean" | "category" | "ordered" | "number";

/** The part of a definition that says what its scores are. */
export type Scored = Pick<Definition, "return_type" | "categories">;

/** Two scores of one event; undefined as one of them cannot be compared. */
export type ScorePair = { readonly human: Score; readonly judge: Score };

/** Maximum levels of numbers that are values themselves; more values are put into equal bins. */
const valuesMax = 20;
const binCount = 10;
/** Maximum categories in a table of kappa. */
const categoriesMax = 100;

/** Returns how scores of two metrics are compared. */
export function scaleOf(human: Scored, judge: Scored): ScaleKind {
  const types = [human.return_type, judge.return_type];
  if (types.every((type) => type === "boolean")) return "boolean";
  if (![human, judge].every(hasNumbers)) return "category";
  return types.every((type) => type === "categorical") ? "ordered" : "number";
}

function hasNumbers({ return_type, categories }: Scored): boolean {
  if (return_type !== "categorical") return return_type !== "string";
  return categories !== null && categories.every(({ score }) => score !== null);
}

/** Returns the number of a score; NaN if it has none. */
function toNumber(score: Score, { categories }: Scored): number {
  if (typeof score === "number") return score;
  if (typeof score === "boolean") return Number(score);
  const label = toLabel(score);
  const found = categories?.find(({ category }) => toLabel(category) === label);
  return found?.score ?? NaN;
}

function toLabel(score: Score): string {
  return String(score).trim().toLowerCase();
}

export type Placed<T> = {
  /** Pairs with their levels, in the order given; those that cannot be compared are left out. */
  readonly pairs: readonly (Pair & { readonly of: T })[];
  /** Undefined if there are too many categories for kappa. */
  readonly levels: Levels | undefined;
  readonly names: readonly string[];
  /** How numbers were put into levels; undefined if every value is a level. */
  readonly binning: string | undefined;
};

export type Comparing = {
  readonly kind: ScaleKind;
  readonly human: Scored;
  readonly judge: Scored;
};

/** Puts the scores of pairs into levels. */
export function placePairs<T extends ScorePair>(
  given: readonly T[],
  { kind, human, judge }: Comparing,
): Placed<T> {
  if (kind === "category") return placeLabels(given);
  const numbered = given
    .map((of) => ({ of, human: toNumber(of.human, human), judge: toNumber(of.judge, judge) }))
    .filter((pair) => Number.isFinite(pair.human) && Number.isFinite(pair.judge))
    .filter((pair) => kind !== "boolean" || (isBit(pair.human) && isBit(pair.judge)));
  const values = kind === "boolean" ? [0, 1] : distinct(numbered);
  const { names, levels, binning, levelOf } = toLevels(kind, values);
  const pairs = numbered.map((pair) => ({
    ...pair,
    humanLevel: levelOf(pair.human),
    judgeLevel: levelOf(pair.judge),
  }));
  return { pairs, levels, names, binning };
}

function isBit(value: number): boolean {
  return value === 0 || value === 1;
}

function distinct(pairs: readonly { readonly human: number; readonly judge: number }[]): number[] {
  const values = new Set<number>();
  for (const { human, judge } of pairs) values.add(human).add(judge);
  return [...values].toSorted((a, b) => a - b);
}

function toLevels(kind: ScaleKind, values: readonly number[]) {
  const weights = kind === "boolean" ? ("none" as const) : ("quadratic" as const);
  if (values.length <= valuesMax || kind === "ordered") {
    const places = new Map(values.map((value, index) => [value, index]));
    const names = values.map((value) => (kind === "boolean" ? String(value === 1) : String(value)));
    const levels = { count: values.length, values, weights };
    const hasTable = values.length <= categoriesMax;
    const levelOf = (value: number): number => places.get(value) ?? 0;
    return { names, levels: hasTable ? levels : undefined, binning: undefined, levelOf };
  }
  const [low, high] = [values[0] ?? 0, values.at(-1) ?? 0];
  // Halves first: the range of the largest numbers would be infinite.
  const width = high / binCount - low / binCount;
  const edges = Array.from({ length: binCount + 1 }, (_, index) => low + index * width);
  const middles = edges.slice(0, binCount).map((edge) => edge + width / 2);
  return {
    names: middles.map((_, index) => `${format(edges[index])} to ${format(edges[index + 1])}`),
    levels: { count: binCount, values: middles, weights },
    binning: `${binCount} bins of equal width from ${format(low)} to ${format(high)}`,
    levelOf: (value: number): number =>
      Math.min(binCount - 1, Math.max(0, Math.floor((value - low) / width))),
  };
}

function format(value: number | undefined): string {
  return String(Number((value ?? 0).toPrecision(6)));
}

function placeLabels<T extends ScorePair>(given: readonly T[]): Placed<T> {
  const places = new Map<string, number>();
  const place = (score: Score): number => {
    const label = toLabel(score);
    const level = places.get(label) ?? places.size;
    places.set(label, level);
    return level;
  };
  const pairs = given.map((of) => ({
    of,
    human: NaN,
    judge: NaN,
    humanLevel: place(of.human),
    judgeLevel: place(of.judge),
  }));
  const count = places.size;
  const isTable = count <= categoriesMax;
  const levels = { count, values: [...places.values()], weights: "none" as const };
  return {
    pairs,
    levels: isTable ? levels : undefined,
    names: isTable ? [...places.keys()] : [],
    binning: undefined,
  };
}
