// The numbers that a plot draws. Pure functions.

import { widthOfUnit } from "./histogram-scale.ts";

type Values = readonly (number | null)[];

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
