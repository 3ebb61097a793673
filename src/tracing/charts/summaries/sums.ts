// Adds the summaries of stretches up by group: a value of the split, or a bucket and a place among
// the ranked values. Columns and plain loops, since a chart may have a million groups.

import type { Pacer } from "../../../base/pacer.ts";
import type { SummaryPlan } from "./plan.ts";
import type { Summary } from "./summary.ts";

/** Summary of a stretch of time, which lies in one bucket. */
export type Part = {
  readonly bucket: number;
  readonly summary: Summary;
  /** True for the summary that is kept of its hour. */
  readonly isKept: boolean;
};

/** Which group a value of the split belongs to, in each bucket. */
export type Grouping = {
  readonly groups: number;
  /** Groups in each bucket. */
  readonly perBucket: number;
  /** Place of each value of the split within a bucket; undefined: each value is a group. */
  readonly places: Uint32Array | undefined;
};

/** Sums over all parts, by group. */
export type Sums = {
  readonly events: Float64Array;
  /** By the places of the sources in the plan. */
  readonly sources: readonly SourceSums[];
};

export type SourceSums = {
  readonly counts: Float64Array;
  readonly sum: Float64Array | undefined;
  readonly min: Float64Array | undefined;
  readonly max: Float64Array | undefined;
};

/** Returns the group of each entry of a part. */
export function groupsOf({ bucket, summary }: Part, grouping: Grouping): Uint32Array {
  const { splits } = summary;
  const { perBucket, places } = grouping;
  if (places === undefined) return splits;
  const groups = new Uint32Array(splits.length);
  const from = bucket * perBucket;
  for (let at = 0; at < groups.length; at += 1) {
    groups[at] = from + (places[splits[at] as number] as number);
  }
  return groups;
}

export type AddOptions = { readonly grouping: Grouping; readonly pacer: Pacer };

/** Returns the sums of no parts. */
export function noSums({ sources }: SummaryPlan, groups: number): Sums {
  return {
    events: new Float64Array(groups),
    sources: sources.map(({ keeps }) => emptySums(groups, keeps)),
  };
}

/** Adds parts to sums. */
export async function addUp(
  sums: Sums,
  parts: readonly Part[],
  { grouping, pacer }: AddOptions,
): Promise<void> {
  for (const part of parts) {
    const own = groupsOf(part, grouping);
    addCounts(sums.events, own, part.summary.events);
    for (const [at, into] of sums.sources.entries()) {
      const given = part.summary.sources[at];
      if (given === undefined) continue;
      addCounts(into.counts, own, given.counts);
      if (into.sum && given.kept.sum) addNumbers(into.sum, own, given.kept.sum);
      if (into.min && given.kept.min) keepLeast(into.min, own, given.kept.min);
      if (into.max && given.kept.max) keepGreatest(into.max, own, given.kept.max);
    }
    if (pacer.due()) await pacer.rest();
  }
}

/** Adds the sums of the values of a split to those of their places. */
export function foldSums(sums: Sums, given: Sums, places: Uint32Array): void {
  addNumbers(sums.events, places, given.events);
  for (const [at, { counts, sum, min, max }] of given.sources.entries()) {
    const into = sums.sources[at];
    if (into === undefined) continue;
    addNumbers(into.counts, places, counts);
    if (into.sum && sum) addNumbers(into.sum, places, sum);
    if (into.min && min) keepLeast(into.min, places, min);
    if (into.max && max) keepGreatest(into.max, places, max);
  }
}

function emptySums(groups: number, keeps: readonly string[]): SourceSums {
  const start = (name: "sum" | "min" | "max", value: number) =>
    keeps.includes(name) ? new Float64Array(groups).fill(value) : undefined;
  return {
    counts: new Float64Array(groups),
    sum: start("sum", 0),
    min: start("min", Infinity),
    max: start("max", -Infinity),
  };
}

// One function for each type of list: a loop over lists of two types is several times as slow.

function addCounts(sums: Float64Array, groups: Uint32Array, added: Uint32Array): void {
  for (let at = 0; at < groups.length; at += 1) {
    const group = groups[at] as number;
    sums[group] = (sums[group] as number) + (added[at] as number);
  }
}

/** Adds the number of each group; NaN stands for a group without numbers. */
function addNumbers(sums: Float64Array, groups: Uint32Array, added: Float64Array): void {
  for (let at = 0; at < groups.length; at += 1) {
    const number = added[at] as number;
    if (Number.isNaN(number)) continue;
    const group = groups[at] as number;
    sums[group] = (sums[group] as number) + number;
  }
}

function keepLeast(held: Float64Array, groups: Uint32Array, given: Float64Array): void {
  for (let at = 0; at < groups.length; at += 1) {
    const [group, number] = [groups[at] as number, given[at] as number];
    if (number < (held[group] as number)) held[group] = number;
  }
}

function keepGreatest(held: Float64Array, groups: Uint32Array, given: Float64Array): void {
  for (let at = 0; at < groups.length; at += 1) {
    const [group, number] = [groups[at] as number, given[at] as number];
    if (number > (held[group] as number)) held[group] = number;
  }
}
