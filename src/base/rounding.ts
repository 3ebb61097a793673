// Means and differences without what the rounding of sums adds to them.

/**
 * Returns the mean of finite numbers; undefined for none. It is never outside of them, though sums
 * are rounded: the mean of equal numbers is that number.
 */
export function meanOf(numbers: ArrayLike<number>): number | undefined {
  const count = numbers.length;
  if (count === 0) return undefined;
  let [sum, parts, least, greatest] = [0, 0, Infinity, -Infinity];
  for (let at = 0; at < count; at += 1) {
    const number = numbers[at] as number;
    sum += number;
    parts += number / count;
    least = Math.min(least, number);
    greatest = Math.max(greatest, number);
  }
  // The sum of finite numbers may be infinite.
  const mean = Number.isFinite(sum) ? sum / count : parts;
  return Math.min(Math.max(mean, least), greatest);
}

/** Part of a number that may be an error of rounding, as where 0.1 and 0.7 have the mean 0.4. */
const roundingMax = 1e-12;

/** Returns `a - b`; 0 where they differ by rounding alone. */
export function differenceOf(a: number, b: number): number {
  const difference = a - b;
  const rounding = roundingMax * Math.max(Math.abs(a), Math.abs(b));
  return Math.abs(difference) <= rounding ? 0 : difference;
}
