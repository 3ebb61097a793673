// Percentiles of numbers in memory, without sorting all of them.

/**
 * Returns a percentile with linear interpolation, as `percentile_cont` does; null without numbers.
 * Reorders the numbers. `part` is from 0 to 1.
 */
export function percentile(values: Float64Array, part: number): number | null {
  if (values.length === 0) return null;
  const place = (values.length - 1) * part;
  const low = Math.floor(place);
  const lowest = select(values, low);
  if (low === place) return lowest;
  // The selection leaves no smaller number behind its place.
  let next = Infinity;
  for (let at = low + 1; at < values.length; at += 1) next = Math.min(next, values[at] ?? next);
  return lowest + (place - low) * (next - lowest);
}

/**
 * Returns the number that would stand at `wanted` in order, and moves it there, smaller numbers
 * before it and greater ones behind. Takes time in proportion to the numbers.
 */
function select(values: Float64Array, wanted: number): number {
  let [low, high] = [0, values.length - 1];
  // Numbers chosen against the pivots make parts that hardly shrink: then sorting is faster.
  for (let left = 4 * Math.ceil(Math.log2(values.length + 1)); low < high; left -= 1) {
    if (left === 0) {
      values.subarray(low, high + 1).sort();
      break;
    }
    const pivot = middleOf(values, low, high);
    let [from, to] = [low, high];
    while (from <= to) {
      while (at(values, from) < pivot) from += 1;
      while (at(values, to) > pivot) to -= 1;
      if (from > to) break;
      [values[from], values[to]] = [at(values, to), at(values, from)];
      from += 1;
      to -= 1;
    }
    if (wanted <= to) high = to;
    else if (wanted >= from) low = from;
    else break;
  }
  return at(values, wanted);
}

/** Returns the median of the first, the middle and the last number. */
function middleOf(values: Float64Array, low: number, high: number): number {
  const [a, b, c] = [at(values, low), at(values, (low + high) >>> 1), at(values, high)];
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}

function at(values: Float64Array, index: number): number {
  return values[index] as number;
}
