// Summary of the events of a stretch of time: for each value of the split, the number of its events
// and the numbers of its measures. Columns of numbers hold a million groups in little memory.

import type { KeptSums } from "./kept-sums.ts";
import type { Kept, SummaryPlan } from "./plan.ts";
import type { Stretch } from "./stretches.ts";

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

/** Summaries of a project's hours for one plan, with the values of the split by their numbers. */
export type Book = {
  readonly numbers: Map<string, number>;
  readonly splits: string[];
  readonly hours: Map<number, KeptHour>;
  /** Summaries of parts of hours at the ends of ranges, by their times; the oldest first. */
  readonly ends: Map<string, KeptHour>;
  /** Approximate bytes of memory. */
  bytes: number;
  /** Cells that the last statement read. */
  lastCells: number;
  keptSums: KeptSums | undefined;
};

/** Summary of an hour or of a part of it; right while the hour's marks make the same version. */
export type KeptHour = { readonly version: number; readonly summary: Summary };

export function createBook(): Book {
  return {
    numbers: new Map(),
    splits: [],
    hours: new Map(),
    ends: new Map(),
    bytes: 0,
    lastCells: 0,
    keptSums: undefined,
  };
}

/** Bytes of an entry of a book beside its numbers. */
const hourBytes = 500;
const splitBytes = 100;

/** Number of range ends whose summaries are kept: two charts may be requested in turn. */
const endsMax = 4;

/** Returns the summary of a stretch that is kept; undefined if there is none. */
export function findKept(book: Book, stretch: Stretch): KeptHour | undefined {
  if (stretch.hour === null) return undefined;
  return stretch.isWhole ? book.hours.get(stretch.hour) : book.ends.get(endKey(stretch));
}

/** Keeps the summary of a stretch of a past hour in place of an older one. */
export function keepSummary(book: Book, stretch: Stretch, kept: KeptHour): void {
  if (stretch.hour === null) return;
  const old = findKept(book, stretch);
  if (old) book.bytes -= bytesOf(old.summary);
  book.bytes += bytesOf(kept.summary);
  if (stretch.isWhole) {
    book.hours.set(stretch.hour, kept);
    return;
  }
  const key = endKey(stretch);
  book.ends.delete(key);
  book.ends.set(key, kept);
  const [oldest] = book.ends;
  if (book.ends.size <= endsMax || oldest === undefined) return;
  book.ends.delete(oldest[0]);
  book.bytes -= bytesOf(oldest[1].summary);
}

function endKey({ fromUs, toUs }: Stretch): string {
  return `${fromUs} ${toUs}`;
}

function bytesOf({ splits, events, sources }: Summary): number {
  const arrays = sources.flatMap(({ counts, kept }) => [counts, ...Object.values(kept)]);
  const distinct = new Set([splits, events, ...arrays]);
  const bytes = [...distinct].reduce((sum, { byteLength }) => sum + byteLength, 0);
  return bytes + hourBytes;
}

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

/** Reads the JSON of a summary; null stands for one without events. */
export function readSummary(book: Book, { sources }: SummaryPlan, json: string | null): Summary {
  const columns = json === null ? undefined : (JSON.parse(json) as SummaryJson);
  if (columns === undefined) return empty(sources.length);
  const [splits, eventsOf, ...numbers] = columns;
  const events = Uint32Array.from(eventsOf);
  return {
    splits: Uint32Array.from(splits, (split) => numberOf(book, split)),
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

function numberOf(book: Book, split: string): number {
  const known = book.numbers.get(split);
  if (known !== undefined) return known;
  const number = book.splits.length;
  book.numbers.set(split, number);
  book.splits.push(split);
  book.bytes += splitBytes + 2 * split.length;
  return number;
}
