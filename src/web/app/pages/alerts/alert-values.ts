// How values of alerts are written: in percent, as counts, or in the unit of their measure.

import type { Alert, AlertEvaluation } from "../../../../../gen/waggle/v1/alert_pb.js";
import {
  formatCost,
  formatCounted,
  formatDuration,
  formatExactCost,
  formatExactDuration,
  formatExactNumber,
} from "../../design/format.ts";
import { formatOf, unitOf } from "../charts/answer.ts";

/** Aggregations of alerts as charts name them. */
export const chartAggregations: Readonly<Record<string, string>> = {
  AVERAGE: "avg",
  COUNT: "count",
  SUM: "sum",
  MIN: "min",
  MAX: "max",
  P90: "p90",
  P95: "p95",
  P99: "p99",
  MEDIAN: "median",
};

export type Condition = Pick<Alert, "alertType" | "aggregation" | "projections" | "frequency">;

/**
 * Returns how values of an alert are written: counts of events, percent, or as the measure;
 * default: the first measure.
 */
export function formatOfAlert(
  alert: Condition,
  projection = alert.projections[0],
): (value: number) => string {
  if (alert.alertType === "DRIFT") return (value) => `${value.toFixed(1)} %`;
  if (alert.alertType === "PER_EVENT") return (value) => String(value);
  return formatOfMeasure(alert, projection);
}

function formatOfMeasure({ aggregation }: Condition, metric = ""): (value: number) => string {
  return formatOf({ metric, aggregation: chartAggregations[aggregation] ?? "avg" });
}

/** Returns the measures of an alert, those together whose values have one unit. */
export function measuresByUnit(alert: Condition): readonly (readonly string[])[] {
  const isOfMeasures = alert.alertType !== "DRIFT" && alert.alertType !== "PER_EVENT";
  const aggregation = chartAggregations[alert.aggregation] ?? "avg";
  const unit = (metric: string): string => (isOfMeasures ? unitOf({ metric, aggregation }) : "");
  return [...Map.groupBy(alert.projections, unit).values()];
}

/** Returns what a check saw, as lists show it: for PER_EVENT the number of events that meet. */
export function describeValue(
  alert: Condition,
  value: number,
  projection = alert.projections[0],
): string {
  if (alert.alertType === "PER_EVENT") return formatCounted(value, "event");
  return formatOfAlert(alert, projection)(value);
}

/**
 * Returns how the threshold of an alert is written, for one of its measures or the first: for
 * PER_EVENT it is one event's value. Rounded, it would be another threshold, such as 0.0 %,
 * <$0.0001 or 2.35 s for 2,345 ms.
 */
export function formatOfThreshold(
  alert: Condition,
  projection = alert.projections[0],
): (value: number) => string {
  if (alert.alertType === "DRIFT") return (value) => `${value} %`;
  const isOfEvent = alert.alertType === "PER_EVENT";
  const metric = projection ?? "";
  const aggregation = isOfEvent ? undefined : chartAggregations[alert.aggregation];
  const format = isOfEvent ? formatOf({ metric }) : formatOfAlert(alert, projection);
  if (format === formatCost) return formatExactCost;
  if (format === formatDuration) return formatExactDuration;
  const isShare = metric === "error_rate" && aggregation !== "count" && aggregation !== "sum";
  return isShare ? (value) => `${formatExactNumber(value * 100)} %` : formatExactNumber;
}

/** Returns what a check saw beside its values: both sides of a change, or the events it names. */
export function noteOf(alert: Condition, [first]: AlertEvaluation["values"]): string {
  if (first?.current !== undefined && first.baseline !== undefined) {
    // The value is in percent; what it compares is in the unit of the measure.
    const format = formatOfMeasure(alert, first.projection);
    return `${format(first.baseline)} before, ${format(first.current)} now`;
  }
  return first && first.eventIds.length > 0
    ? `${formatCounted(first.eventIds.length, "event")} named`
    : "–";
}
