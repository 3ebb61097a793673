// The keys that read the points of a chart, one after the other. Pure.

/**
 * Returns the index of the point that a key leads to from another, if it is such a key. Without a
 * point before, ArrowLeft begins at the last one and ArrowRight at the first.
 */
export function pointAfterKey(
  key: string,
  before: number | undefined,
  count: number,
): number | undefined {
  const last = count - 1;
  if (count === 0) return undefined;
  switch (key) {
    case "ArrowLeft":
      return Math.max(0, Math.min(before ?? count, count) - 1);
    case "ArrowRight":
      return Math.min(last, (before ?? -1) + 1);
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return undefined;
  }
}
