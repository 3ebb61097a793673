// How the values of a metric are distributed. Pure.

const binsCount = 12;

/**
 * Counts values in bins of equal width between the least and the greatest; in one bin if these are
 * equal.
 */
export function toBins(values: readonly number[]): readonly number[] {
  if (values.length === 0) return [];
  const least = values.reduce((a, b) => Math.min(a, b));
  if (values.every((value) => value === least)) return [values.length];
  const width = (values.reduce((a, b) => Math.max(a, b)) - least) / binsCount;
  const bins = Array.from({ length: binsCount }, () => 0);
  for (const value of values) {
    const at = Math.min(binsCount - 1, Math.floor((value - least) / width));
    bins[at] = (bins[at] ?? 0) + 1;
  }
  return bins;
}

const fewMax = 5;

/** Counts true and false, which are 1 and 0 among the values of a metric; neither if absent. */
export function countBooleans(values: readonly number[]): readonly (readonly [string, number])[] {
  const trues = values.filter((value) => value === 1).length;
  const counts = [["true", trues] as const, ["false", values.length - trues] as const];
  return counts.filter(([, count]) => count > 0);
}

/**
 * Counts each value where there are two to five different whole ones, such as ratings, the
 * greatest first; undefined for values that bins show better.
 */
export function countFew(
  values: readonly number[],
): readonly (readonly [string, number])[] | undefined {
  const counts = new Map<number, number>();
  for (const value of values) {
    counts.set(value, (counts.get(value) ?? 0) + 1);
    if (!Number.isInteger(value) || counts.size > fewMax) return undefined;
  }
  if (counts.size < 2) return undefined;
  return [...counts].toSorted(([a], [b]) => b - a).map(([value, count]) => [`${value}`, count]);
}
