// Percentiles of the numbers of groups, which are spread over the summaries of many stretches.

import type { Pacer } from "../../../base/pacer.ts";
import type { Hold } from "./load-memory.ts";
import { percentile } from "./percentile.ts";
import { percentileOfRuns, type SortedRun } from "./runs.ts";
import { type Grouping, groupsOf, type Part } from "./sums.ts";

/** Returns a percentile of a group; null without numbers. `part` is from 0 to 1. */
export type PercentileOf = (group: number, part: number) => number | null;

export type NumbersOptions = {
  readonly grouping: Grouping;
  /** Place of the source in the plan. */
  readonly source: number;
  /** How many numbers each group has. */
  readonly counts: Float64Array;
  readonly pacer: Pacer;
  readonly hold: Pick<Hold, "grow">;
};

/** Numbers in a run from which on cutting runs is faster than bringing them together. */
const longRun = 16;

/** Bytes of a number, and of a run. */
const numberBytes = 8;
const runBytes = 60;

/** Throws OVERLOADED if there is no memory for the runs, or the numbers brought together. */
export async function percentilesOf(
  parts: readonly Part[],
  options: NumbersOptions,
): Promise<PercentileOf> {
  let [numbers, runs] = [0, 0];
  for (const { summary } of parts) {
    numbers += summary.sources[options.source]?.kept.values?.length ?? 0;
    runs += summary.splits.length;
  }
  const isCut = numbers >= runs * longRun;
  options.hold.grow(isCut ? runs * runBytes : numbers * numberBytes);
  return isCut ? cutRuns(parts, options) : gather(parts, options);
}

async function cutRuns(parts: readonly Part[], options: NumbersOptions): Promise<PercentileOf> {
  const runsOf = new Map<number, SortedRun[]>();
  await eachRun(parts, options, (group, numbers, from, to) => {
    const runs = runsOf.get(group);
    if (runs) runs.push({ numbers, from, to });
    else runsOf.set(group, [{ numbers, from, to }]);
  });
  return (group, part) => percentileOfRuns(runsOf.get(group) ?? [], part);
}

async function gather(parts: readonly Part[], options: NumbersOptions): Promise<PercentileOf> {
  const { counts } = options;
  const { groups } = options.grouping;
  const starts = new Float64Array(groups + 1);
  for (let group = 0; group < groups; group += 1) {
    starts[group + 1] = (starts[group] as number) + (counts[group] as number);
  }
  const values = new Float64Array(starts[groups] as number);
  const filled = starts.slice();
  await eachRun(parts, options, (group, numbers, from, to) => {
    values.set(numbers.subarray(from, to), filled[group]);
    filled[group] = (filled[group] as number) + to - from;
  });
  return (group, part) => percentile(values.subarray(starts[group], starts[group + 1]), part);
}

/** Calls `take` for the numbers of each group in each part: those from `from` to before `to`. */
async function eachRun(
  parts: readonly Part[],
  { grouping, source, pacer }: NumbersOptions,
  take: (group: number, numbers: Float64Array, from: number, to: number) => void,
): Promise<void> {
  for (const part of parts) {
    const given = part.summary.sources[source];
    const numbers = given?.kept.values;
    if (given === undefined || numbers === undefined) continue;
    let from = 0;
    for (const [at, group] of groupsOf(part, grouping).entries()) {
      const to = from + (given.counts[at] as number);
      take(group, numbers, from, to);
      from = to;
    }
    if (pacer.due()) await pacer.rest();
  }
}
