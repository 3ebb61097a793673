// Comparison of two runs: per metric and kind of event, which datapoints improved.
// Source: the published clients of this API; docs/experiments.md; docs/decisions.md, 39.4.

import type { RunEvent } from "../../tracing/run-events/run-events.ts";
import { aggregate, type AggregateName } from "./aggregate.ts";
import { type PairedTest, testDifferences } from "./paired-test.ts";
import { isSmallerBetter, numberOf } from "./passing.ts";
import {
  type EventKind,
  type Judging,
  groupByKey,
  kindsOf,
  metricTypeOf,
  numbersIn,
  rangeFor,
  type Score,
  scoresOf,
  thresholdOf,
} from "./result.ts";

export type Presence = "old" | "new" | "both";

export type MetricComparison = {
  readonly metricName: string;
  readonly metricType: string;
  readonly eventName: string;
  readonly eventType: string;
  readonly oldAggregate: number | null;
  readonly newAggregate: number | null;
  readonly improved: readonly string[];
  readonly degraded: readonly string[];
  readonly same: readonly string[];
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

export function compare(
  older: ComparedRun,
  newer: ComparedRun,
  aggregateName: AggregateName,
): Comparison {
  const newScores = groupScores(newer);
  const oldScores = renameKinds(groupScores(older), newScores);
  const keys = [...new Set([...oldScores.keys(), ...newScores.keys()])].toSorted();
  const inOld = datapointsOf(older.events);
  return {
    metrics: keys.map((key) =>
      compareMetric(oldScores.get(key) ?? [], newScores.get(key) ?? [], {
        judging: newer.judging,
        aggregateName,
      }),
    ),
    commonDatapoints: [...datapointsOf(newer.events)].filter((id) => inOld.has(id)),
    eventKinds: compareKinds(kindsOf(older.events), kindsOf(newer.events)),
  };
}

function groupScores({ events, judging }: ComparedRun): ReadonlyMap<string, readonly Score[]> {
  return groupByKey(events.flatMap((event) => scoresOf(event, judging)));
}

/**
 * Returns the older scores under the keys of the newer ones, where a metric stands on events of one
 * name in each run and the names differ: the function that ran has another name.
 */
function renameKinds(
  older: ReadonlyMap<string, readonly Score[]>,
  newer: ReadonlyMap<string, readonly Score[]>,
): ReadonlyMap<string, readonly Score[]> {
  const oldKeys = groupKeys(older);
  const newKeys = groupKeys(newer);
  return new Map(
    [...older].map(([key, scores]) => {
      const metric = metricOf(scores);
      const [renamed, ...others] = newKeys.get(metric) ?? [];
      const isOne = oldKeys.get(metric)?.length === 1 && others.length === 0;
      return [isOne ? (renamed ?? key) : key, scores];
    }),
  );
}

/** Groups keys by metric and event type. */
function groupKeys(
  scores: ReadonlyMap<string, readonly Score[]>,
): ReadonlyMap<string, readonly string[]> {
  return Map.groupBy(scores.keys(), (key) => metricOf(scores.get(key) ?? []));
}

function metricOf([score]: readonly Score[]): string {
  return JSON.stringify([score?.metricName, score?.eventType]);
}

function datapointsOf(events: readonly RunEvent[]): ReadonlySet<string> {
  return new Set(events.flatMap(({ datapointId }) => datapointId ?? []));
}

type Comparing = { readonly judging: Judging; readonly aggregateName: AggregateName };

function compareMetric(
  older: readonly Score[],
  newer: readonly Score[],
  { judging, aggregateName }: Comparing,
): MetricComparison {
  const { metricName = "", eventName = "", eventType = "" } = newer[0] ?? older[0] ?? {};
  const smallerBetter = isSmallerBetter(
    rangeFor(metricName, judging),
    thresholdOf(metricName, judging),
  );
  const oldValues = numbersIn(older);
  const newValues = numbersIn(newer);
  const oldAggregate = aggregate(aggregateName, oldValues);
  const newAggregate = aggregate(aggregateName, newValues);
  const isBoth = oldAggregate !== null && newAggregate !== null;
  const difference = isBoth ? newAggregate - oldAggregate : null;
  const isPart = difference !== null && oldAggregate !== null && oldAggregate !== 0;
  const pairs = pairUp(older, newer);
  const gain = smallerBetter ? -1 : 1;
  const idsWith = (sign: number): readonly string[] =>
    pairs.flatMap((pair) => (Math.sign(gain * pair.difference) === sign ? [pair.id] : []));
  return {
    metricName,
    eventName,
    eventType,
    metricType: metricTypeOf(metricName, judging),
    oldAggregate,
    newAggregate,
    improved: idsWith(1),
    degraded: idsWith(-1),
    same: pairs.flatMap((pair) => (pair.difference === 0 ? [pair.id] : [])),
    oldValues,
    newValues,
    difference,
    percentageChange: isPart ? (difference / Math.abs(oldAggregate)) * 100 : null,
    isSmallerBetter: smallerBetter,
    pairedTest: testDifferences(pairs.map((pair) => pair.difference)),
  };
}

type Pair = { readonly id: string; readonly difference: number };

/** Returns the datapoints with a number in both runs; of several, their mean counts. */
function pairUp(older: readonly Score[], newer: readonly Score[]): readonly Pair[] {
  const before = meansByDatapoint(older);
  return [...meansByDatapoint(newer)].flatMap(([id, mean]) => {
    const other = before.get(id);
    return other === undefined ? [] : [{ id, difference: mean - other }];
  });
}

function meansByDatapoint(scores: readonly Score[]): ReadonlyMap<string, number> {
  const means = new Map<string, number>();
  // Most datapoints have one number, which needs no list.
  const several = new Map<string, number[]>();
  for (const { datapointId, value } of scores) {
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
