// Adds summaries up to the cells of a chart: ranks the values of the split by the first measure,
// then groups by bucket and place. Yields to other work between summaries.

import type { Pacer } from "../../../base/pacer.ts";
import type { Aggregation, ChartQuestion } from "../chart-query.ts";
import type { CellRow } from "../store.ts";
import type { Hold } from "./load-memory.ts";
import { percentile } from "./percentile.ts";
import type { KeptSource, SummaryPlan } from "./plan.ts";
import type { Summary } from "./summary.ts";

/** Summary of a stretch of time, which lies in one bucket. */
export type Part = { readonly bucket: number; readonly summary: Summary };

export type Parts = {
  readonly plan: SummaryPlan;
  readonly parts: readonly Part[];
  /** Values of the split by their numbers. */
  readonly splits: readonly string[];
  /** Starts of the buckets in Unix milliseconds. */
  readonly starts: readonly number[];
};

/** Sums over all groups of parts. */
type Sums = {
  readonly events: Float64Array;
  readonly sources: readonly SourceSums[];
};

type SourceSums = {
  readonly counts: Float64Array;
  readonly sum: Float64Array | undefined;
  readonly min: Float64Array | undefined;
  readonly max: Float64Array | undefined;
  /** Returns the numbers of a group. */
  readonly valuesOf: (group: number) => Float64Array;
};

/** Which group a value of the split belongs to, in each bucket. */
type Grouping = {
  readonly groups: number;
  /** Groups in each bucket; 0 if buckets do not matter. */
  readonly perBucket: number;
  /** Place of each value of the split within a bucket. */
  readonly places: Uint32Array;
};

export type CellOptions = { readonly pacer: Pacer; readonly hold: Hold };

/** Returns the cells of a chart. Throws OVERLOADED if there is no memory for its sums. */
export async function toCells(
  { measures, split }: ChartQuestion,
  { plan, parts, splits, starts }: Parts,
  { pacer, hold }: CellOptions,
): Promise<readonly CellRow[]> {
  const groups = splits.length + starts.length * ((split?.limit ?? 1) + 1);
  hold.grow(sumsBytes(plan, parts, groups));
  const identity = { groups: splits.length, perBucket: 0, places: Uint32Array.from(splits.keys()) };
  const [first] = measures;
  const firstSource = plan.sourceOf[0] ?? 0;
  const inAll = await addUp(parts, plan.sources.slice(firstSource, firstSource + 1), {
    ...{ grouping: identity, firstSource, pacer },
  });
  const rankValues = new Map<number, number | null>();
  let matched = 0;
  for (const [number, events] of inAll.events.entries()) {
    matched += events;
    const [sums] = inAll.sources;
    if (events === 0 || first === undefined || sums === undefined) continue;
    rankValues.set(number, aggregate(first.aggregation, sums, number));
    if (pacer.due()) await pacer.rest();
  }
  const limit = split?.limit ?? 1;
  const top = rank(rankValues, splits, limit);
  const places = new Uint32Array(splits.length).fill(limit);
  for (const [place, number] of top.entries()) places[number] = place;
  const perBucket = limit + 1;
  const grouping = { groups: starts.length * perBucket, perBucket, places };
  const sums = await addUp(parts, plan.sources, { grouping, firstSource: 0, pacer });
  const cells: CellRow[] = [];
  for (const [group, events] of sums.events.entries()) {
    if (events === 0) continue;
    const place = group % perBucket;
    const value = splits[top[place] ?? -1];
    cells.push({
      bucketMs: starts[Math.floor(group / perBucket)] ?? 0,
      split: value === undefined || value === "-" ? null : value.slice(1),
      isOther: place === limit,
      rank: place + 1,
      splits: rankValues.size,
      matched,
      values: measures.map(({ aggregation }, at) => {
        const source = sums.sources[plan.sourceOf[at] ?? 0];
        return source === undefined ? null : aggregate(aggregation, source, group);
      }),
    });
    if (pacer.due()) await pacer.rest();
  }
  return cells;
}

/** Bytes of a number, and of the sums of a group beside those of its sources. */
const numberBytes = 8;
const groupBytes = 100;

/** Returns the approximate bytes of the sums of groups, and of all numbers brought together. */
function sumsBytes({ sources }: SummaryPlan, parts: readonly Part[], groups: number): number {
  const columns = sources.reduce((sum, { keeps }) => sum + 1 + keeps.length, 0);
  const numbers = parts
    .flatMap(({ summary }) => summary.sources)
    .reduce((sum, { kept }) => sum + (kept.values?.length ?? 0), 0);
  return groups * (groupBytes + columns * numberBytes) + numbers * numberBytes;
}

type AddOptions = {
  readonly grouping: Grouping;
  /** Place of the first source in the summaries. */
  readonly firstSource: number;
  readonly pacer: Pacer;
};

async function addUp(
  parts: readonly Part[],
  sources: readonly KeptSource[],
  { grouping, firstSource, pacer }: AddOptions,
): Promise<Sums> {
  const { groups, perBucket, places } = grouping;
  const events = new Float64Array(groups);
  const sums = sources.map(({ keeps }) => {
    const start = (name: "sum" | "min" | "max", value: number) =>
      keeps.includes(name) ? new Float64Array(groups).fill(value) : undefined;
    return {
      counts: new Float64Array(groups),
      ...{ sum: start("sum", 0), min: start("min", Infinity), max: start("max", -Infinity) },
    };
  });
  for (const { bucket, summary } of parts) {
    const groupsOf = summary.splits.map((split) => bucket * perBucket + (places[split] ?? 0));
    addTo(events, groupsOf, summary.events);
    for (const [at, { counts, sum, min, max }] of sums.entries()) {
      const given = summary.sources[firstSource + at];
      if (given === undefined) continue;
      addTo(counts, groupsOf, given.counts);
      if (sum && given.kept.sum) addNumbers(sum, groupsOf, given.kept.sum);
      if (min && given.kept.min) fold(min, groupsOf, given.kept.min, Math.min);
      if (max && given.kept.max) fold(max, groupsOf, given.kept.max, Math.max);
    }
    if (pacer.due()) await pacer.rest();
  }
  const complete: SourceSums[] = [];
  for (const [at, own] of sums.entries()) {
    const isWanted = sources[at]?.keeps.includes("values") === true;
    const gather = { grouping, source: firstSource + at, counts: own.counts, pacer };
    complete.push({ ...own, valuesOf: isWanted ? await gatherValues(parts, gather) : noValues });
  }
  return { events, sources: complete };
}

function addTo(sums: Float64Array, groups: Uint32Array, added: Uint32Array): void {
  for (let at = 0; at < groups.length; at += 1) {
    const group = groups[at] as number;
    sums[group] = (sums[group] as number) + (added[at] as number);
  }
}

function addNumbers(sums: Float64Array, groups: Uint32Array, added: Float64Array): void {
  for (let at = 0; at < groups.length; at += 1) {
    const [group, number] = [groups[at] as number, added[at] as number];
    if (!Number.isNaN(number)) sums[group] = (sums[group] as number) + number;
  }
}

function fold(
  held: Float64Array,
  groups: Uint32Array,
  given: Float64Array,
  choose: (a: number, b: number) => number,
): void {
  for (let at = 0; at < groups.length; at += 1) {
    const [group, number] = [groups[at] as number, given[at] as number];
    if (!Number.isNaN(number)) held[group] = choose(held[group] as number, number);
  }
}

const noValues = (): Float64Array => new Float64Array();

type GatherOptions = {
  readonly grouping: Grouping;
  readonly source: number;
  /** How many numbers each group has. */
  readonly counts: Float64Array;
  readonly pacer: Pacer;
};

/** Brings the numbers of each group together. */
async function gatherValues(
  parts: readonly Part[],
  { grouping: { groups, perBucket, places }, source, counts, pacer }: GatherOptions,
): Promise<(group: number) => Float64Array> {
  const starts = new Float64Array(groups + 1);
  for (let group = 0; group < groups; group += 1) {
    starts[group + 1] = (starts[group] as number) + (counts[group] as number);
  }
  const values = new Float64Array(starts[groups] as number);
  const filled = starts.slice();
  for (const { bucket, summary } of parts) {
    const given = summary.sources[source];
    const numbers = given?.kept.values;
    if (given === undefined || numbers === undefined) continue;
    let from = 0;
    for (const [at, split] of summary.splits.entries()) {
      const group = bucket * perBucket + (places[split] ?? 0);
      const to = from + (given.counts[at] as number);
      values.set(numbers.subarray(from, to), filled[group]);
      filled[group] = (filled[group] as number) + to - from;
      from = to;
    }
    if (pacer.due()) await pacer.rest();
  }
  return (group) => values.subarray(starts[group], starts[group + 1]);
}

const parts: Partial<Record<Aggregation, number>> = {
  median: 0.5,
  p75: 0.75,
  p90: 0.9,
  p95: 0.95,
  p99: 0.99,
};

function aggregate(aggregation: Aggregation, sums: SourceSums, group: number): number | null {
  const count = sums.counts[group] ?? 0;
  if (aggregation === "count") return count;
  if (count === 0) return null;
  if (aggregation === "min") return sums.min?.[group] ?? null;
  if (aggregation === "max") return sums.max?.[group] ?? null;
  const sum = sums.sum?.[group] ?? NaN;
  if (aggregation === "sum") return sum;
  if (aggregation === "avg") return sum / count;
  return percentile(sums.valuesOf(group), parts[aggregation] ?? 0);
}

/** Returns the numbers of the first values of the split: greatest first, those without one last. */
function rank(
  values: ReadonlyMap<number, number | null>,
  splits: readonly string[],
  limit: number,
): readonly number[] {
  const orderOf = (a: number, b: number): number => {
    const [left, right] = [values.get(a) ?? -Infinity, values.get(b) ?? -Infinity];
    if (left !== right) return left > right ? -1 : 1;
    return Buffer.compare(Buffer.from(splits[a] ?? ""), Buffer.from(splits[b] ?? ""));
  };
  const top: number[] = [];
  for (const number of values.keys()) {
    const last = top.at(-1);
    if (top.length === limit && last !== undefined && orderOf(number, last) > 0) continue;
    const place = top.findIndex((one) => orderOf(number, one) < 0);
    top.splice(place === -1 ? top.length : place, 0, number);
    if (top.length > limit) top.pop();
  }
  return top;
}
