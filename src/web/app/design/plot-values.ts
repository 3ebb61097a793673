// The numbers that a plot draws. Pure functions.

type Values = readonly (number | null)[];

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
