// Result of a run: its scores by metric and by datapoint, and what passed. Computed in steps.
// Source: the published clients of this API; docs/decisions.md, 27.

import type { Steps } from "../../base/paced.ts";
import type { RunEvent } from "../../tracing/run-events/run-events.ts";
import { aggregate, type AggregateName } from "./aggregate.ts";
import { numberOf, type PassingRange, rangeOf } from "./passing.ts";
import {
  type EventKind,
  gatherScores,
  itemsOfStep,
  type Judging,
  type MetricPlace,
  type MetricScores,
  ownRange,
  type Score,
  type SessionScores,
  thresholdOf,
} from "./scoring.ts";

/** How often each text is a score. */
export type TextCounts = Readonly<Record<string, number>>;

/** Scores of one metric on events of one name and type. */
export type MetricDetail = MetricPlace & {
  readonly metricType: string;
  readonly aggregate: number | null;
  readonly values: readonly number[];
  readonly texts: TextCounts;
  readonly passingRange: PassingRange | undefined;
  readonly passed: readonly string[];
  readonly failed: readonly string[];
};

export type Result = {
  /** Whether no datapoint failed. */
  readonly success: boolean;
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  readonly details: readonly MetricDetail[];
  readonly datapoints: readonly SessionScores[];
  readonly eventKinds: readonly EventKind[];
};

/** Metric type of scores that the project has no metric for. */
const clientSide = "CLIENT_SIDE";

/** Computes the result of a run from its events. */
export function* resultOf(
  events: readonly RunEvent[],
  judging: Judging,
  aggregateName: AggregateName,
): Steps<Result> {
  const { metrics, sessions, eventKinds } = yield* gatherScores(events, judging);
  const details: MetricDetail[] = [];
  for (const group of metrics.values()) {
    details.push(yield* toDetail(group, judging, aggregateName));
  }
  const { passed, failed } = yield* splitIds(sessions);
  const success = failed.length === 0;
  return { success, passed, failed, details, datapoints: sessions, eventKinds };
}

/** Returns a result whose lists with an entry for every datapoint are empty. */
export function withoutDatapoints(result: Result): Result {
  const none = { passed: [], failed: [] };
  const details = result.details.map((detail) => ({ ...detail, ...none, values: [], texts: {} }));
  return { ...result, ...none, details, datapoints: [] };
}

function* toDetail(
  { scores, ...place }: MetricScores,
  judging: Judging,
  aggregateName: AggregateName,
): Steps<MetricDetail> {
  const { metricName, eventName, eventType } = place;
  const values = yield* numbersIn(scores);
  return {
    metricName,
    eventName,
    eventType,
    metricType: metricTypeOf(metricName, judging),
    aggregate: aggregate(aggregateName, values),
    values,
    texts: yield* countTexts(scores),
    passingRange: rangeFor(metricName, judging),
    ...(yield* splitIds(scores)),
  };
}

/** Returns the numbers among scores. */
export function* numbersIn(scores: readonly Score[]): Steps<readonly number[]> {
  const numbers: number[] = [];
  for (let at = 0; at < scores.length; at += 1) {
    if (at % itemsOfStep === 0) yield;
    const number = numberOf(scores[at]?.value);
    if (number !== undefined) numbers.push(number);
  }
  return numbers;
}

export function metricTypeOf(name: string, { metrics }: Judging): string {
  return metrics.get(name)?.type ?? clientSide;
}

/** Returns the bounds of passing scores of a metric; undefined without any. */
export function rangeFor(name: string, judging: Judging): PassingRange | undefined {
  return ownRange(name, judging) ?? rangeOf(thresholdOf(name, judging));
}

export function* countTexts(scores: readonly Score[]): Steps<TextCounts> {
  const counts = new Map<string, number>();
  for (let at = 0; at < scores.length; at += 1) {
    if (at % itemsOfStep === 0) yield;
    const value = scores[at]?.value;
    if (typeof value === "string") counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

/**
 * Returns the ids of the datapoints that passed and failed, once each: one with an outcome that
 * failed has failed. Sessions without a datapoint count by their own id.
 */
function* splitIds(
  outcomes: readonly Pick<Score, "datapointId" | "sessionId" | "passed">[],
): Steps<{ readonly passed: readonly string[]; readonly failed: readonly string[] }> {
  const passed = new Set<string>();
  const failed = new Set<string>();
  for (let at = 0; at < outcomes.length; at += 1) {
    if (at % itemsOfStep === 0) yield;
    const one = outcomes[at];
    if (one) (one.passed ? passed : failed).add(one.datapointId ?? one.sessionId);
  }
  return { passed: [...passed].filter((id) => !failed.has(id)), failed: [...failed] };
}
