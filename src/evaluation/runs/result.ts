// Result of a run: its scores by metric and by datapoint, and what passed.
// Source: the published clients of this API; docs/decisions.md, 27.

import type { JsonValue } from "../../base/json.ts";
import type { RunEvent } from "../../tracing/run-events/run-events.ts";
import type { Threshold } from "../metrics/definition.ts";
import { aggregate, type AggregateName } from "./aggregate.ts";
import {
  isInRange,
  type KnownMetric,
  numberOf,
  type PassingRange,
  passesThreshold,
  rangeOf,
} from "./passing.ts";

/** A score on an event, or a failed evaluation. */
export type Score = {
  readonly metricName: string;
  readonly eventName: string;
  readonly eventType: string;
  readonly sessionId: string;
  readonly datapointId: string | null;
  /** Null if the evaluation failed. */
  readonly value: JsonValue;
  readonly failure: string | undefined;
  readonly passed: boolean;
};

/** Scores of one metric on events of one name and type. */
export type MetricDetail = {
  readonly metricName: string;
  readonly metricType: string;
  readonly eventName: string;
  readonly eventType: string;
  readonly aggregate: number | null;
  readonly values: readonly number[];
  /** How often each text is a score. */
  readonly texts: Readonly<Record<string, number>>;
  readonly passingRange: PassingRange | undefined;
  readonly passed: readonly string[];
  readonly failed: readonly string[];
};

/** Scores of one session. */
export type DatapointResult = {
  readonly datapointId: string | null;
  readonly sessionId: string;
  readonly passed: boolean;
  readonly scores: readonly Score[];
};

export type EventKind = { readonly eventName: string; readonly eventType: string };

export type Result = {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  readonly details: readonly MetricDetail[];
  readonly datapoints: readonly DatapointResult[];
  readonly eventKinds: readonly EventKind[];
};

/** Metrics and ranges by which scores pass. */
export type Judging = {
  readonly metrics: ReadonlyMap<string, KnownMetric>;
  readonly passingRanges: Readonly<Record<string, PassingRange>>;
};

const explanationSuffix = "_explanation";
const failureSuffix = "_failure";

/** Metric type of scores that the project has no metric for. */
const clientSide = "CLIENT_SIDE";

export function resultOf(
  events: readonly RunEvent[],
  judging: Judging,
  aggregateName: AggregateName,
): Result {
  const scores = events.flatMap((event) => scoresOf(event, judging));
  const datapoints = toDatapoints(events, scores);
  return {
    passed: idsOf(datapoints.filter(({ passed }) => passed)),
    failed: idsOf(datapoints.filter(({ passed }) => !passed)),
    details: groupByMetric(scores).map((group) => toDetail(group, judging, aggregateName)),
    datapoints,
    eventKinds: kindsOf(events),
  };
}

/** Returns the scores of an event and its failed evaluations. */
export function scoresOf(event: RunEvent, judging: Judging): readonly Score[] {
  const { metrics, eventName, eventType, sessionId, datapointId } = event;
  const place = { eventName, eventType, sessionId, datapointId };
  const scores: Score[] = [];
  for (const [name, value] of Object.entries(metrics)) {
    if (isExtra(name, explanationSuffix, event)) continue;
    if (name.endsWith(failureSuffix)) {
      const metricName = name.slice(0, -failureSuffix.length);
      // A later score of the same metric replaces its failure.
      if (Object.hasOwn(metrics, metricName)) continue;
      scores.push({ ...place, metricName, value: null, failure: toText(value), passed: false });
      continue;
    }
    const passed = passes(name, value, judging);
    scores.push({ ...place, metricName: name, value, failure: undefined, passed });
  }
  return scores;
}

/** Returns whether a key belongs to the metric whose name it continues. */
function isExtra(name: string, suffix: string, { metrics }: RunEvent): boolean {
  return name.endsWith(suffix) && Object.hasOwn(metrics, name.slice(0, -suffix.length));
}

function passes(name: string, value: JsonValue, judging: Judging): boolean {
  const range = ownRange(name, judging);
  return range ? isInRange(value, range) : passesThreshold(value, thresholdOf(name, judging));
}

/** Returns the run's own range for a metric. */
function ownRange(name: string, { passingRanges }: Judging): PassingRange | undefined {
  return Object.hasOwn(passingRanges, name) ? passingRanges[name] : undefined;
}

/** Returns the threshold of a metric; null without one. */
export function thresholdOf(name: string, { metrics }: Judging): Threshold | null {
  return metrics.get(name)?.threshold ?? null;
}

function toText(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns the results of the sessions, in the order in which they began. */
function toDatapoints(
  events: readonly RunEvent[],
  scores: readonly Score[],
): readonly DatapointResult[] {
  const bySession = Map.groupBy(scores, ({ sessionId }) => sessionId);
  const datapoints = new Map<string, string | null>();
  for (const { sessionId, datapointId } of events) {
    datapoints.set(sessionId, datapoints.get(sessionId) ?? datapointId);
  }
  return [...datapoints].map(([sessionId, datapointId]) => {
    const own = bySession.get(sessionId) ?? [];
    return { datapointId, sessionId, passed: own.every(({ passed }) => passed), scores: own };
  });
}

/** Returns the ids of datapoints, once each; those of sessions without a datapoint are theirs. */
function idsOf(datapoints: readonly DatapointResult[]): readonly string[] {
  return [...new Set(datapoints.map(({ datapointId, sessionId }) => datapointId ?? sessionId))];
}

/** Groups scores by metric, event name and event type. */
export function groupByMetric(scores: readonly Score[]): readonly (readonly Score[])[] {
  const groups = groupByKey(scores);
  return [...groups.keys()].toSorted().map((key) => groups.get(key) ?? []);
}

/** Groups scores by a text that is equal for scores of one metric on one kind of event. */
export function groupByKey(scores: readonly Score[]): ReadonlyMap<string, readonly Score[]> {
  // Lengths keep the parts apart, and cost less than JSON for each of a hundred thousand scores.
  const groups = Map.groupBy(
    scores,
    ({ metricName, eventName, eventType }) =>
      `${metricName.length} ${eventName.length} ${metricName}${eventName}${eventType}`,
  );
  return new Map(
    [...groups.values()].map((group) => {
      const { metricName = "", eventName = "", eventType = "" } = group[0] ?? {};
      return [JSON.stringify([metricName, eventName, eventType]), group];
    }),
  );
}

function toDetail(
  scores: readonly Score[],
  judging: Judging,
  aggregateName: AggregateName,
): MetricDetail {
  const { metricName = "", eventName = "", eventType = "" } = scores[0] ?? {};
  const values = numbersIn(scores);
  return {
    metricName,
    eventName,
    eventType,
    metricType: metricTypeOf(metricName, judging),
    aggregate: aggregate(aggregateName, values),
    values,
    texts: countTexts(scores),
    passingRange: rangeFor(metricName, judging),
    passed: idsWith(scores, true),
    failed: idsWith(scores, false),
  };
}

export function numbersIn(scores: readonly Score[]): readonly number[] {
  return scores.flatMap(({ value }) => numberOf(value) ?? []);
}

export function metricTypeOf(name: string, { metrics }: Judging): string {
  return metrics.get(name)?.type ?? clientSide;
}

/** Returns the bounds of passing scores of a metric; undefined without any. */
export function rangeFor(name: string, judging: Judging): PassingRange | undefined {
  return ownRange(name, judging) ?? rangeOf(thresholdOf(name, judging));
}

function countTexts(scores: readonly Score[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { value } of scores) {
    if (typeof value === "string") counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

function idsWith(scores: readonly Score[], passed: boolean): readonly string[] {
  const found = scores.filter((score) => score.passed === passed);
  return [...new Set(found.map(({ datapointId, sessionId }) => datapointId ?? sessionId))];
}

/** Returns the kinds of events, once each. */
export function kindsOf(events: readonly RunEvent[]): readonly EventKind[] {
  const kinds = new Map(
    events.map(({ eventName, eventType }) => [
      JSON.stringify([eventName, eventType]),
      { eventName, eventType },
    ]),
  );
  return [...kinds.keys()].toSorted().flatMap((key) => kinds.get(key) ?? []);
}
