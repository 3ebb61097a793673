// Comparison of two runs: per metric and kind of event, which datapoints improved.
// Source: the published clients of this API; docs/experiments.md; docs/decisions.md, 39.4.

import { differenceOf } from "../../base/rounding.ts";
import type { RunEvent } from "../../tracing/run-events/run-events.ts";
import type { Steps } from "../../base/paced.ts";
import { aggregate, type AggregateName } from "./aggregate.ts";
import { compareTexts } from "./compared-texts.ts";
import { type PairedTest, testDifferences } from "./paired-test.ts";
import { isSmallerBetter, numberOf } from "./passing.ts";
import { countTexts, metricTypeOf, numbersIn, rangeFor, type TextCounts } from "./result.ts";
import {
  type EventKind,
  gatherScores,
  itemsOfStep,
  type Judging,
  type MetricPlace,
  type MetricScores,
  type Score,
  thresholdOf,
} from "./scoring.ts";

export type Presence = "old" | "new" | "both";

export type MetricComparison = MetricPlace & {
  readonly metricType: string;
  readonly oldAggregate: number | null;
  readonly newAggregate: number | null;
  readonly improved: readonly string[];
  readonly degraded: readonly string[];
  readonly same: readonly string[];
  /** Datapoints with a text in both runs, and another one in the newer. */
  readonly changed: readonly string[];
  readonly oldTexts: TextCounts;
  readonly newTexts: TextCounts;
  readonly oldValues: readonly number[];
  readonly newValues: readonly number[];
  readonly difference: number | null;
  readonly percentageChange: number | null;
  readonly isSmallerBetter: boolean;
  readonly pairedTest: PairedTest | undefined;
};

export type Comparison = {
  readonly metrics: readonly MetricComparison[];
  readonly commonDatapoints: readonly string[];
  readonly eventKinds: readonly (EventKind & { readonly presence: Presence })[];
};

/** Events of a run, and the ranges and metrics of its scores. */
export type ComparedRun = { readonly events: readonly RunEvent[]; readonly judging: Judging };

/** Compares two runs, in steps. */
export function* compare(
  older: ComparedRun,
  newer: ComparedRun,
  aggregateName: AggregateName,
): Steps<Comparison> {
  const after = yield* gatherScores(newer.events, newer.judging);
  const before = yield* gatherScores(older.events, older.judging);
  const oldMetrics = renameKinds(before.metrics, after.metrics);
  const keys = [...new Set([...oldMetrics.keys(), ...after.metrics.keys()])].toSorted();
  const metrics: MetricComparison[] = [];
  for (const key of keys) {
    const pair = { older: oldMetrics.get(key), newer: after.metrics.get(key) };
    metrics.push(yield* compareMetric(pair, { judging: newer.judging, aggregateName }));
  }
  return {
    metrics,
    commonDatapoints: yield* commonDatapoints(older.events, newer.events),
    eventKinds: compareKinds(before.eventKinds, after.eventKinds),
  };
}

type Groups = ReadonlyMap<string, MetricScores>;

/**
 * Returns the older scores under the keys of the newer ones, where a metric stands on events of one
 * name in each run and the names differ: the function that ran has another name.
 */
function renameKinds(older: Groups, newer: Groups): Groups {
  const oldKeys = groupKeys(older);
  const newKeys = groupKeys(newer);
  return new Map(
    [...older].map(([key, group]) => {
      const metric = metricOf(group);
      const [renamed, ...others] = newKeys.get(metric) ?? [];
      const isOne = oldKeys.get(metric)?.length === 1 && others.length === 0;
      return [isOne ? (renamed ?? key) : key, group];
    }),
  );
}

/** Groups keys by metric and event type. */
function groupKeys(groups: Groups): ReadonlyMap<string, readonly string[]> {
  return Map.groupBy(groups.keys(), (key) => metricOf(groups.get(key)));
}

function metricOf(group: MetricPlace | undefined): string {
  return JSON.stringify([group?.metricName, group?.eventType]);
}

function* commonDatapoints(
  older: readonly RunEvent[],
  newer: readonly RunEvent[],
): Steps<readonly string[]> {
  const inOld = yield* datapointsOf(older);
  const common: string[] = [];
  for (const id of yield* datapointsOf(newer)) if (inOld.has(id)) common.push(id);
  return common;
}

function* datapointsOf(events: readonly RunEvent[]): Steps<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (let at = 0; at < events.length; at += 1) {
    if (at % itemsOfStep === 0) yield;
    const id = events[at]?.datapointId ?? null;
    if (id !== null) ids.add(id);
  }
  return ids;
}

type Comparing = { readonly judging: Judging; readonly aggregateName: AggregateName };

type GroupPair = {
  readonly older: MetricScores | undefined;
  readonly newer: MetricScores | undefined;
};

function* compareMetric(
  { older, newer }: GroupPair,
  { judging, aggregateName }: Comparing,
): Steps<MetricComparison> {
  const { metricName = "", eventName = "", eventType = "" } = newer ?? older ?? {};
  const bounds = rangeFor(metricName, judging);
  const smallerBetter = isSmallerBetter(bounds, thresholdOf(metricName, judging));
  const oldValues = yield* numbersIn(older?.scores ?? []);
  const newValues = yield* numbersIn(newer?.scores ?? []);
  const oldAggregate = aggregate(aggregateName, oldValues);
  const newAggregate = aggregate(aggregateName, newValues);
  const isBoth = oldAggregate !== null && newAggregate !== null;
  const difference = isBoth ? differenceOf(newAggregate, oldAggregate) : null;
  const isPart = difference !== null && oldAggregate !== null && oldAggregate !== 0;
  const pairs = yield* pairUp(older?.scores ?? [], newer?.scores ?? []);
  yield;
  const better = sortPairs(pairs, smallerBetter ? -1 : 1);
  yield;
  const texts = yield* compareTexts(older?.scores ?? [], newer?.scores ?? []);
  return {
    metricName,
    eventName,
    eventType,
    metricType: metricTypeOf(metricName, judging),
    oldAggregate,
    newAggregate,
    improved: [...better.improved, ...texts.improved],
    degraded: [...better.degraded, ...texts.degraded],
    same: [...better.same, ...texts.same],
    changed: texts.changed,
    oldTexts: yield* countTexts(older?.scores ?? []),
    newTexts: yield* countTexts(newer?.scores ?? []),
    oldValues,
    newValues,
    difference,
    percentageChange: isPart ? (difference / Math.abs(oldAggregate)) * 100 : null,
    isSmallerBetter: smallerBetter,
    pairedTest: testDifferences(pairs.differences),
  };
}

/** Datapoints with a number in both runs, and newer minus older at the same index. */
type Pairs = { readonly ids: readonly string[]; readonly differences: readonly number[] };

/** Sorts the datapoints by whether they are better, worse or equal in the newer run. */
function sortPairs(
  { ids, differences }: Pairs,
  gain: 1 | -1,
): Pick<MetricComparison, "improved" | "degraded" | "same"> {
  const improved: string[] = [];
  const degraded: string[] = [];
  const same: string[] = [];
  for (const [at, id] of ids.entries()) {
    const change = gain * (differences[at] ?? 0);
    if (change > 0) improved.push(id);
    else if (change < 0) degraded.push(id);
    else same.push(id);
  }
  return { improved, degraded, same };
}

/** Returns the datapoints with a number in both runs; of several, their mean counts. */
function* pairUp(older: readonly Score[], newer: readonly Score[]): Steps<Pairs> {
  const before = yield* meansByDatapoint(older);
  const after = yield* meansByDatapoint(newer);
  const ids: string[] = [];
  const differences: number[] = [];
  for (const [id, mean] of after) {
    const other = before.get(id);
    if (other === undefined) continue;
    if (ids.push(id) % itemsOfStep === 0) yield;
    differences.push(differenceOf(mean, other));
  }
  return { ids, differences };
}

function* meansByDatapoint(scores: readonly Score[]): Steps<ReadonlyMap<string, number>> {
  const means = new Map<string, number>();
  // Most datapoints have one number, which needs no list.
  const several = new Map<string, number[]>();
  for (let at = 0; at < scores.length; at += 1) {
    if (at % itemsOfStep === 0) yield;
    const { datapointId = null, value } = scores[at] ?? {};
    const number = numberOf(value);
    if (datapointId === null || number === undefined) continue;
    const first = means.get(datapointId);
    const list = several.get(datapointId);
    if (list) list.push(number);
    else if (first === undefined) means.set(datapointId, number);
    else several.set(datapointId, [first, number]);
  }
  for (const [id, list] of several) means.set(id, aggregate("average", list) ?? 0);
  return means;
}

function compareKinds(
  older: readonly EventKind[],
  newer: readonly EventKind[],
): readonly (EventKind & { readonly presence: Presence })[] {
  const has = (kinds: readonly EventKind[], kind: EventKind): boolean =>
    kinds.some((one) => one.eventName === kind.eventName && one.eventType === kind.eventType);
  const ofNewer = newer.map((kind) => ({
    ...kind,
    presence: has(older, kind) ? ("both" as const) : ("new" as const),
  }));
  const onlyOlder = older.filter((kind) => !has(newer, kind));
  return [...ofNewer, ...onlyOlder.map((kind) => ({ ...kind, presence: "old" as const }))];
}
