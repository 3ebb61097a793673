// Sums of the values of a split over past hours, kept from one chart to the next: with many values
// the hours take longest to add up. They hold as long as all their summaries are in the chart.

import type { Pacer } from "../../../base/pacer.ts";
import { chartKeptSumsBytesMax } from "../../../base/tenant-limits.ts";
import type { SummaryPlan } from "./plan.ts";
import { addUp, noSums, type Part, type Sums } from "./sums.ts";
import type { Summary } from "./summary.ts";

/** Sums over summaries, which are kept ones of hours. They are never changed. */
export type KeptSums = {
  readonly summaries: ReadonlySet<Summary>;
  /** Number of values of the split. */
  readonly groups: number;
  readonly sums: Sums;
  readonly bytes: number;
};

/** Owner of kept sums, with its approximate bytes of memory. */
export type KeepsSums = { keptSums: KeptSums | undefined; bytes: number };

/** Each value of the split is a group, whatever its bucket. */
export const bySplit = { perBucket: 0, places: undefined } as const;

export type SplitParts = {
  readonly plan: SummaryPlan;
  readonly parts: readonly Part[];
  /** Number of values of the split. */
  readonly groups: number;
};

/** Returns the sums of each value of the split over all parts, which no caller changes. */
export async function addUpSplits(
  book: KeepsSums,
  { plan, parts, groups }: SplitParts,
  pacer: Pacer,
): Promise<Sums> {
  const grouping = { ...bySplit, groups };
  const lasting = parts.filter(({ isKept }) => isKept);
  const present = new Set(lasting.map(({ summary }) => summary));
  const known = book.keptSums;
  const isKnown = known !== undefined && [...known.summaries].every((one) => present.has(one));
  const fresh = isKnown ? lasting.filter(({ summary }) => !known.summaries.has(summary)) : lasting;
  const passing = parts.filter(({ isKept }) => !isKept);
  // Their copy alone would take longer than all the rest.
  if (isKnown && fresh.length + passing.length === 0 && known.groups === groups) return known.sums;
  const kept = noSums(plan, groups);
  if (isKnown) setSums(kept, known.sums);
  await addUp(kept, fresh, { grouping, pacer });
  const bytes = bytesOf(kept);
  if (fresh.length > 0 && bytes <= chartKeptSumsBytesMax) {
    book.bytes -= book.keptSums?.bytes ?? 0;
    book.keptSums = { summaries: present, groups, sums: kept, bytes };
    book.bytes += bytes;
  }
  const sums = noSums(plan, groups);
  setSums(sums, kept);
  await addUp(sums, passing, { grouping, pacer });
  return sums;
}

function arraysOf({ events, sources }: Sums): readonly Float64Array[] {
  const ofSources = sources.flatMap(({ counts, sum, min, max }) => [counts, sum, min, max]);
  return [events, ...ofSources.filter((numbers) => numbers !== undefined)];
}

/** Copies sums, of as many values or fewer. */
function setSums(sums: Sums, given: Sums): void {
  const arrays = arraysOf(sums);
  for (const [at, numbers] of arraysOf(given).entries()) arrays[at]?.set(numbers);
}

function bytesOf(sums: Sums): number {
  return arraysOf(sums).reduce((sum, { byteLength }) => sum + byteLength, 0);
}
