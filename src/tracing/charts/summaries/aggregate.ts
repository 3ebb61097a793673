// Adds summaries up to the cells of a chart: ranks the values of the split by the first measure,
// then groups by bucket and place. Yields to other work between summaries.

import type { Pacer } from "../../../base/pacer.ts";
import { type ChartQuestion, percentiles } from "../chart-query.ts";
import type { CellRow } from "../store.ts";
import type { Hold } from "./load-memory.ts";
import { type PercentileOf, percentilesOf } from "./numbers.ts";
import type { SummaryPlan } from "./plan.ts";
import { addUpSplits, bySplit, type KeepsSums } from "./kept-sums.ts";
import { addUp, foldSums, type Grouping, noSums, type Part, type Sums } from "./sums.ts";

export type Parts = {
  readonly plan: SummaryPlan;
  readonly parts: readonly Part[];
  readonly book: KeepsSums;
  /** Values of the split by their numbers. */
  readonly splits: readonly string[];
  /** Starts of the buckets in Unix milliseconds. */
  readonly starts: readonly number[];
};

export type CellOptions = { readonly pacer: Pacer; readonly hold: Hold };

/** Returns the cells of a chart. Throws OVERLOADED if there is no memory for its sums. */
export async function toCells(
  question: ChartQuestion,
  given: Parts,
  { pacer, hold }: CellOptions,
): Promise<readonly CellRow[]> {
  const { measures, split } = question;
  const { plan, parts, splits, starts } = given;
  const limit = split?.limit ?? 1;
  const perBucket = limit + 1;
  // Other questions may add values of the split to the book meanwhile, which no part has.
  const groups = splits.length;
  hold.grow(sumsBytes(given, starts.length * perBucket));
  const ranking = await rankSplits(question, { ...given, groups }, { pacer, hold });
  const places = new Uint32Array(groups).fill(limit);
  for (const [place, number] of ranking.top.entries()) places[number] = place;
  const grouping = { groups: starts.length * perBucket, perBucket, places };
  const sums = noSums(plan, grouping.groups);
  // With one bucket, the sums of the splits have everything.
  if (ranking.sums !== undefined && starts.length === 1) foldSums(sums, ranking.sums, places);
  else await addUp(sums, parts, { grouping, pacer });
  const valueOf = await valuesOf(question, given, { sums, grouping, pacer, hold });
  const matched = sums.events.reduce((sum, events) => sum + events, 0);
  const cells: CellRow[] = [];
  for (const [group, events] of sums.events.entries()) {
    if (events === 0) continue;
    const place = group % perBucket;
    const value = splits[ranking.top[place] ?? -1];
    cells.push({
      bucketMs: starts[Math.floor(group / perBucket)] ?? 0,
      split: value === undefined || value === "-" ? null : value.slice(1),
      isOther: place === limit,
      rank: place + 1,
      splits: ranking.count ?? 1,
      matched,
      values: measures.map((_, at) => valueOf(at, group)),
    });
    if (group % looks === 0 && pacer.due()) await pacer.rest();
  }
  return cells;
}

const numberBytes = 8;
/** Bytes of a cell beside the sums of its sources. */
const cellBytes = 100;
/** Columns of a value of the split beside those of its sources: events, its rank and its place. */
const splitColumns = 3;

/** Returns the approximate bytes of cells, and of the sums of the values of the split. */
function sumsBytes({ plan, splits }: Parts, cells: number): number {
  const columns = plan.sources.reduce((sum, { keeps }) => sum + 1 + keeps.length, 0);
  // The sums of the splits are there twice while those of past hours are kept.
  const ofSplits = splits.length * 2 * (splitColumns + columns) * numberBytes;
  return ofSplits + cells * (cellBytes + columns * numberBytes);
}

type Ranking = {
  /** Numbers of the values of the split that have a series of their own, in order. */
  readonly top: readonly number[];
  /** Number of values that an event has; undefined if there is at most one. */
  readonly count?: number;
  /** Sums of each value over all buckets. */
  readonly sums?: Sums;
};

/** Ranks the values of the split by the first measure over all buckets. */
async function rankSplits(
  question: ChartQuestion,
  { plan, parts, splits, groups, book, starts }: Parts & { readonly groups: number },
  { pacer, hold }: CellOptions,
): Promise<Ranking> {
  // One value needs no rank. A chart of one bucket goes on, because it uses the sums.
  if (groups <= 1 && starts.length > 1) return { top: groups === 1 ? [0] : [] };
  const sums = await addUpSplits(book, { plan, parts, groups }, pacer);
  const grouping = { ...bySplit, groups };
  const first = { ...question, measures: question.measures.slice(0, 1) };
  const valueOf = await valuesOf(first, { plan, parts }, { sums, grouping, pacer, hold });
  // A value without a number comes last.
  const ranks = new Float64Array(groups).fill(-Infinity);
  let count = 0;
  for (let number = 0; number < ranks.length; number += 1) {
    if (sums.events[number] === 0) continue;
    count += 1;
    ranks[number] = valueOf(0, number) ?? -Infinity;
    if (number % looks === 0 && pacer.due()) await pacer.rest();
  }
  const present = (number: number): boolean => sums.events[number] !== 0;
  return { top: rank(ranks, splits, { limit: question.split?.limit ?? 1, present }), count, sums };
}

/** Groups between two looks at the clock. */
const looks = 256;

type RankOptions = {
  readonly limit: number;
  readonly present: (number: number) => boolean;
};

/** Returns the numbers of the first values of the split, the greatest first. */
function rank(
  ranks: Float64Array,
  splits: readonly string[],
  { limit, present }: RankOptions,
): readonly number[] {
  const orderOf = (a: number, b: number): number => {
    const [left, right] = [ranks[a] as number, ranks[b] as number];
    if (left !== right) return left > right ? -1 : 1;
    return Buffer.compare(Buffer.from(splits[a] ?? ""), Buffer.from(splits[b] ?? ""));
  };
  const top: number[] = [];
  for (let number = 0; number < ranks.length; number += 1) {
    if (!present(number)) continue;
    const last = top.at(-1);
    if (top.length === limit && last !== undefined && orderOf(number, last) > 0) continue;
    const place = top.findIndex((one) => orderOf(number, one) < 0);
    top.splice(place === -1 ? top.length : place, 0, number);
    if (top.length > limit) top.pop();
  }
  return top;
}

type ValueOptions = CellOptions & { readonly sums: Sums; readonly grouping: Grouping };

/** Returns the value of a measure, by its place, of a group; null without a number. */
async function valuesOf(
  { measures }: Pick<ChartQuestion, "measures">,
  { plan, parts }: Pick<Parts, "plan" | "parts">,
  { sums, grouping, ...options }: ValueOptions,
): Promise<(measure: number, group: number) => number | null> {
  const found = new Map<number, PercentileOf>();
  for (const [at, { aggregation }] of measures.entries()) {
    const source = plan.sourceOf[at] ?? 0;
    const counts = sums.sources[source]?.counts;
    if (percentiles[aggregation] === undefined || counts === undefined || found.has(source)) {
      continue;
    }
    found.set(source, await percentilesOf(parts, { grouping, source, counts, ...options }));
  }
  return (measure, group) => {
    const source = plan.sourceOf[measure] ?? 0;
    const own = sums.sources[source];
    const aggregation = measures[measure]?.aggregation;
    if (own === undefined || aggregation === undefined) return null;
    const count = own.counts[group] ?? 0;
    if (aggregation === "count") return count;
    if (count === 0) return null;
    if (aggregation === "min") return own.min?.[group] ?? null;
    if (aggregation === "max") return own.max?.[group] ?? null;
    const sum = own.sum?.[group] ?? NaN;
    if (aggregation === "sum") return sum;
    if (aggregation === "avg") return sum / count;
    return found.get(source)?.(group, percentiles[aggregation] ?? 0) ?? null;
  };
}
