// Book of a chart's summaries: those of past hours that are kept from one chart to the next, and
// the sums over them.

import type { KeptSums } from "./kept-sums.ts";
import type { Stretch } from "./stretches.ts";
import type { Summary } from "./summary.ts";

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

/** Returns the number of a value of the split, a new one for a new value. */
export function numberOf(book: Book, split: string): number {
  const known = book.numbers.get(split);
  if (known !== undefined) return known;
  const number = book.splits.length;
  book.numbers.set(split, number);
  book.splits.push(split);
  book.bytes += splitBytes + 2 * split.length;
  return number;
}
