// Summary of the events of a stretch of time: for each value of the split, the number of its events
// and the numbers of its measures. Columns of numbers hold a million groups in little memory.

import type { Kept, SummaryPlan } from "./plan.ts";

export type Summary = {
  /** Number of the split's value in each group; equal values have one number in a book. */
  readonly splits: Uint32Array;
  readonly events: Uint32Array;
  readonly sources: readonly KeptNumbers[];
};

export type KeptNumbers = {
  /** How many numbers each group has. */
  readonly counts: Uint32Array;
  /**
   * By group; NaN stands for a group without numbers. `values` holds the numbers of all groups one
   * after another, in ascending order within each group.
   */
  readonly kept: Partial<Record<Kept, Float64Array>>;
};

/** Summary as the store makes it: columns in the order of the plan. */
type SummaryJson = readonly [
  splits: readonly string[],
  events: readonly number[],
  ...sources: SourceJson[],
];
type SourceJson = readonly [
  counts: readonly number[],
  ...kept: (readonly (number | null)[] | readonly (readonly number[] | null)[])[],
];

/**
 * Reads the JSON of a summary; null stands for one without events. `numberOf` gives each value of
 * the split its number.
 */
export function readSummary(
  { sources }: SummaryPlan,
  json: string | null,
  numberOf: (split: string) => number,
): Summary {
  const columns = json === null ? undefined : (JSON.parse(json) as SummaryJson);
  if (columns === undefined) return empty(sources.length);
  const [splits, eventsOf, ...numbers] = columns;
  const events = Uint32Array.from(eventsOf);
  return {
    splits: Uint32Array.from(splits, numberOf),
    events,
    sources: sources.map(({ keeps }, at) => {
      const [counts, ...lists] = numbers[at] ?? [[]];
      const kept = keeps.map((name, place) => [name, toNumbers(lists[place] ?? [])] as const);
      for (const [name, all] of kept) if (name === "values") sortGroups(all, counts);
      return {
        // Usually each event has a number; then one list does for both.
        counts: counts.every((count, group) => count === events[group])
          ? events
          : Uint32Array.from(counts),
        kept: Object.fromEntries(kept),
      };
    }),
  };
}

function sortGroups(numbers: Float64Array, counts: readonly number[]): void {
  let from = 0;
  for (const count of counts) {
    if (count > 1) numbers.subarray(from, from + count).sort();
    from += count;
  }
}

function empty(sources: number): Summary {
  const none = new Uint32Array();
  const numbers = Array.from({ length: sources }, () => ({ counts: none, kept: {} }));
  return { splits: none, events: none, sources: numbers };
}

function toNumbers(list: readonly (number | null | readonly number[])[]): Float64Array {
  return Float64Array.from(list.flatMap((item) => item ?? (NaN as number | readonly number[])));
}
