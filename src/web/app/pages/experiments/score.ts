// Scores as people read them, and what a comparison says in plain words. Pure.

import type {
  RunDatapoint,
  RunMetricComparison,
  RunMetricDetail,
} from "../../../../../gen/waggle/v1/run_pb.js";
import { formatScore, isRounding } from "../../design/format.ts";

/**
 * Says how two runs differ by a metric, such as `better by 0.08, 95 % CI 0.02 to 0.14, paired
 * t-test, n = 120`.
 */
export function formatDifference({ pairedTest, better, difference }: RunMetricComparison): string {
  if (!pairedTest) {
    if (difference === undefined) return "nothing to compare";
    return `differs by ${formatScore(difference)}; too few pairs for a test`;
  }
  const { meanDifference, lower, upper, confidenceLevel, test, n } = pairedTest;
  const level = `${Math.round(confidenceLevel * 100)} % CI`;
  const isBetter = better === "smaller" ? meanDifference < 0 : meanDifference > 0;
  // Differences that cancel each other out leave a rest by their rounding.
  const isSame = isRounding(meanDifference, Math.max(-lower, upper, 0));
  const word = isSame ? "the same on average" : isBetter ? "better by" : "worse by";
  const size = isSame ? "" : ` ${formatScore(Math.abs(meanDifference))}`;
  // The word says the direction, so a negative difference turns the bounds.
  const isTurned = meanDifference < 0;
  const [low, high] = isTurned ? [-upper, -lower] : [lower, upper];
  return `${word}${size}, ${level} ${formatScore(low)} to ${formatScore(high)}, ${test}, n = ${n}`;
}

/** Says in two or three words what to make of the test. */
export function verdictOf(metric: RunMetricComparison): string {
  if (isClear(metric)) return "clear";
  const isChanged = metric.improvedCount + metric.degradedCount > 0;
  return isChanged ? "may be chance" : "no change";
}

/** Says whether the difference can hardly be chance. */
export function isClear({ pairedTest }: RunMetricComparison): boolean {
  return pairedTest !== undefined && (pairedTest.lower > 0 || pairedTest.upper < 0);
}

type ScoredMetric = Pick<RunMetricDetail, "metricName" | "eventName" | "eventType">;

/**
 * Returns a function that says whether all scores of a metric in a run are booleans, which the
 * values of the metric have as 1 and 0.
 */
export function booleansOf(datapoints: readonly RunDatapoint[]): (metric: ScoredMetric) => boolean {
  const isBoolean = new Map<string, boolean>();
  for (const { name, eventName, eventType, value } of datapoints.flatMap(
    ({ metrics }) => metrics,
  )) {
    if (value === undefined || value.kind.case === "nullValue") continue;
    const key = toKey({ metricName: name, eventName, eventType });
    isBoolean.set(key, value.kind.case === "boolValue" && isBoolean.get(key) !== false);
  }
  return (metric) => isBoolean.get(toKey(metric)) === true;
}

function toKey({ metricName, eventName, eventType }: ScoredMetric): string {
  return JSON.stringify([metricName, eventName, eventType]);
}

type NamedMetric = { readonly metricName: string; readonly eventName: string };

/**
 * Returns the function that names a metric among those of a run: with its event where the same
 * metric scored events of several names.
 */
export function namesOf(metrics: readonly NamedMetric[]): (metric: NamedMetric) => string {
  const counts = new Map<string, number>();
  for (const { metricName } of metrics) counts.set(metricName, (counts.get(metricName) ?? 0) + 1);
  return ({ metricName, eventName }) =>
    (counts.get(metricName) ?? 0) > 1 ? `${metricName} on ${eventName}` : metricName;
}
