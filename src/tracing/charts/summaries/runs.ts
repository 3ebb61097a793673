// Percentiles of numbers that lie in sorted runs, such as those of hours: found by cutting the
// runs, so that the numbers are neither brought together nor sorted again.

/** Numbers in ascending order: those from `from`, included, to `to`, excluded. */
export type SortedRun = {
  readonly numbers: Float64Array;
  readonly from: number;
  readonly to: number;
};

/**
 * Returns a percentile with linear interpolation, as `percentile_cont` does; null without numbers.
 * `part` is from 0 to 1.
 */
export function percentileOfRuns(runs: readonly SortedRun[], part: number): number | null {
  const count = runs.reduce((sum, { from, to }) => sum + to - from, 0);
  if (count === 0) return null;
  const place = (count - 1) * part;
  const low = Math.floor(place);
  const lowest = select(runs, low);
  if (low === place) return lowest;
  return lowest + (place - low) * (select(runs, low + 1) - lowest);
}

/** With as few numbers left as this, sorting them is faster than cutting. */
const fewNumbers = 64;
/** Limits the time if runs differ so much that pivots are far from the median. */
const cutsMax = 100;

/** Returns the number that would stand at `wanted` if all were sorted. */
function select(runs: readonly SortedRun[], wanted: number): number {
  const lows = Uint32Array.from(runs, ({ from }) => from);
  const highs = Uint32Array.from(runs, ({ to }) => to);
  let place = wanted;
  let left = runs.reduce((sum, { from, to }) => sum + to - from, 0);
  const [below, above] = [new Uint32Array(runs.length), new Uint32Array(runs.length)];
  for (let cut = 0; cut < cutsMax && left > fewNumbers; cut += 1) {
    const pivot = pivotOf(runs, lows, highs, left);
    let [less, notGreater] = [0, 0];
    for (const [at, { numbers }] of runs.entries()) {
      const [low, high] = [lows[at] as number, highs[at] as number];
      const first = placeBelow(numbers, pivot, low, high);
      const behind = placeAbove(numbers, pivot, first, high);
      [below[at], above[at]] = [first, behind];
      less += first - low;
      notGreater += behind - low;
    }
    if (place >= less && place < notGreater) return pivot;
    if (place < less) {
      highs.set(below);
      left = less;
    } else {
      lows.set(above);
      place -= notGreater;
      left -= notGreater;
    }
  }
  const rest = new Float64Array(left);
  let filled = 0;
  for (const [at, { numbers }] of runs.entries()) {
    const some = numbers.subarray(lows[at], highs[at]);
    rest.set(some, filled);
    filled += some.length;
  }
  return rest.sort()[place] as number;
}

/**
 * Returns a number near the median, to halve the remaining numbers by: the runs are counted in
 * their order up to half of all numbers, and the run reached then gives its own median.
 */
function pivotOf(
  runs: readonly SortedRun[],
  lows: Uint32Array,
  highs: Uint32Array,
  left: number,
): number {
  let passed = 0;
  for (const [at, { numbers }] of runs.entries()) {
    const [low, high] = [lows[at] as number, highs[at] as number];
    passed += high - low;
    if (passed * 2 >= left && high > low) return numbers[(low + high) >>> 1] as number;
  }
  throw new Error("no number is left");
}

/** Returns the place in ascending numbers behind those that are smaller than a bound. */
function placeBelow(numbers: Float64Array, bound: number, from: number, to: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] as number) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the place in ascending numbers behind those that are not greater than a bound. */
function placeAbove(numbers: Float64Array, bound: number, from: number, to: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] as number) <= bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
