// The numbers that a plot draws. Pure functions.

import { widthOfUnit } from "./histogram-scale.ts";

type Values = readonly (number | null)[];
type MaybeValues = readonly (number | null | undefined)[];

type Axis = {
  readonly kind: "line" | "bar";
  /** Starts of the buckets, Unix milliseconds, ascending. */
  readonly times: readonly number[];
  readonly unit?: string | undefined;
};

/**
 * Returns the range of the axis of time, in seconds: half a bucket more beside the first and the
 * last bar, which would stand in the edge, and beside a single point, which has no range.
 */
export function timeAxis({ kind, times, unit }: Axis): [number, number] {
  const [first = 0, second = first + widthOfUnit(unit)] = times;
  const marginMs = kind === "bar" || times.length === 1 ? (second - first) / 2 : 0;
  return [(first - marginMs) / 1_000, ((times.at(-1) ?? first) + marginMs) / 1_000];
}

/**
 * Returns the range of the axis of values, with room beside the outermost ones. It has 0, so that
 * the heights of points compare as the values do. Both bounds are null if there is no value.
 */
export function valueAxis(min: number | null, max: number | null): [number, number] {
  const low = min !== null && min < 0 ? min * roomFactor : 0;
  const high = max !== null && max > 0 ? max * roomFactor : 0;
  return low === 0 && high === 0 ? [0, 1] : [low, high];
}

const roomFactor = 1.06;

const powers = Array.from({ length: 28 }, (_, index) => index - 12);
const stepsBy = (...factors: readonly number[]): number[] =>
  powers.flatMap((power) => factors.map((factor) => Number(`${factor}e${power}`)));

/** Steps between the ticks of an axis. */
const steps = stepsBy(1, 2, 2.5, 5);
const roundSteps = stepsBy(1, 2, 5);

/** Steps in milliseconds that seconds, minutes, hours and days are counted in. */
const durationSteps = [
  ...roundSteps.filter((step) => step < 1_000),
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 3, 6, 12].map((hours) => hours * 3_600_000),
  ...roundSteps.filter((days) => days >= 1).map((days) => days * 86_400_000),
];

/**
 * Returns the steps that the ticks of values may have. Counts have whole ticks: between 0 and 1 the
 * same word would stand twice. Durations have ticks that `formatDuration` does not cut.
 */
export function valueSteps(series: readonly MaybeValues[], isDuration: boolean): number[] {
  const isWhole = series.every((values) => values.every((one) => Number.isInteger(one ?? 0)));
  const all = isDuration ? durationSteps : steps;
  return isWhole ? all.filter(Number.isInteger) : all;
}

/** Adds each series to those before it, so that bars stand on one another. */
export function stacked(series: readonly Values[]): (number | null)[][] {
  const sums: number[] = [];
  return series.map((values) =>
    values.map((value, index) => {
      const sum = (sums[index] ?? 0) + (value ?? 0);
      sums[index] = sum;
      return sum;
    }),
  );
}

/**
 * Returns where a value has none beside it, null where that is nowhere. No line leads there: a
 * point shows the value.
 */
export function isolatedIndexes(values: ArrayLike<number | null | undefined>): number[] | null {
  const isThere = (at: number): boolean => typeof values[at] === "number";
  const found = Array.from(values, (_, at) => at).filter(
    (at) => isThere(at) && !isThere(at - 1) && !isThere(at + 1),
  );
  return found.length === 0 ? null : found;
}

const colors = 6;

/** Lengths of the strokes and gaps of lines, in pixels, by how often the colours were used. */
const dashes: readonly (readonly number[])[] = [[], [8, 4], [2, 3], [8, 3, 2, 3], [14, 5]];

export type LineLook = { readonly color: number; readonly dash: number };

/**
 * Returns the colour of a series, from 1, and its dash, from 0: the colours alone would repeat
 * after six series.
 */
export function lookOf(index: number): LineLook {
  return { color: (index % colors) + 1, dash: Math.floor(index / colors) % dashes.length };
}

/** Returns the strokes and gaps of a dash; none for an unbroken line. */
export function strokesOf({ dash }: LineLook): number[] {
  return [...(dashes[dash] ?? [])];
}
