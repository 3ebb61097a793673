// Words for alerts: operators, periods, conditions.

import type { AlertThreshold } from "../../../../../gen/waggle/v1/alert_pb.js";
import { measureName } from "../charts/question.ts";
import { chartAggregations, type Condition, formatOfThreshold } from "./alert-values.ts";

export const signs: Readonly<Record<string, string>> = {
  greater_than: ">",
  greater_than_or_equal: "≥",
  less_than: "<",
  less_than_or_equal: "≤",
  ">": ">",
  ">=": "≥",
  "<": "<",
  "<=": "≤",
};

export const periods: Readonly<Record<string, string>> = {
  HOURLY: "hour",
  DAILY: "day",
  WEEKLY: "week",
  MONTHLY: "month",
};

/**
 * Returns a condition in a line, such as `p95 duration > 2.00 s, hourly`. The threshold is one
 * number for all measures; it stands beside each of them where their units differ.
 */
export function describeCondition(alert: Condition, critical: AlertThreshold | undefined): string {
  const change = alert.alertType === "DRIFT" ? "change of " : "";
  const any = alert.alertType === "PER_EVENT" ? "any event with " : "";
  const limits = limitsOf(alert, critical);
  const measures = measuresOf(alert);
  const measured = hasOneUnit(limits)
    ? `${measures.join(" or ")} ${limits[0] ?? ""}`
    : measures.map((measure, at) => `${measure} ${limits[at] ?? ""}`).join(" or ");
  return `${any}${change}${measured}, ${alert.frequency.toLowerCase()}`;
}

/** Returns the threshold alone, such as `< 1.00 s`; with the measures where their units differ. */
export function describeThreshold(alert: Condition, threshold: AlertThreshold): string {
  const limits = limitsOf(alert, threshold);
  if (hasOneUnit(limits)) return limits[0] ?? "";
  return measuresOf(alert)
    .map((measure, at) => `${measure} ${limits[at] ?? ""}`)
    .join(", ");
}

function measuresOf({ aggregation, alertType, projections }: Condition): readonly string[] {
  const of = chartAggregations[aggregation] ?? "avg";
  return projections.map((metric) =>
    alertType === "PER_EVENT" ? metric : measureName({ metric, aggregation: of }),
  );
}

/** Returns sign and threshold as each measure of an alert has them. */
function limitsOf(alert: Condition, threshold: AlertThreshold | undefined): readonly string[] {
  const sign = signs[threshold?.operator ?? ""] ?? threshold?.operator ?? "";
  return alert.projections.map(
    (projection) => `${sign} ${formatOfThreshold(alert, projection)(threshold?.value ?? 0)}`,
  );
}

function hasOneUnit(limits: readonly string[]): boolean {
  return new Set(limits).size <= 1;
}
