// Words for alerts: states, operators, conditions, targets.

import type { Alert, AlertThreshold } from "../../../../../gen/waggle/v1/alert_pb.js";
import type { Tone } from "../../design/badge.tsx";
import { formatOf } from "../charts/answer.ts";
import { measureName } from "../charts/question.ts";

export const stateTones: Readonly<Record<string, Tone>> = {
  triggered: "bad",
  resolved: "good",
  active: "good",
  paused: "neutral",
  muted: "warn",
};

export const outcomeTones: Readonly<Record<string, Tone>> = {
  critical: "bad",
  resolved: "good",
  between: "warn",
  insufficient: "neutral",
  failed: "warn",
};

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

export const periods: Readonly<Record<string, string>> = {
  HOURLY: "hour",
  DAILY: "day",
  WEEKLY: "week",
  MONTHLY: "month",
};

type Condition = Pick<Alert, "alertType" | "aggregation" | "projections" | "frequency">;

/** Returns how values of an alert are written: counts of events, percent, or as the measure. */
export function formatOfAlert(alert: Condition): (value: number) => string {
  if (alert.alertType === "DRIFT") return (value) => `${value.toFixed(1)} %`;
  if (alert.alertType === "PER_EVENT") return (value) => String(value);
  const aggregation = chartAggregations[alert.aggregation] ?? "avg";
  return formatOf({ metric: alert.projections[0] ?? "", aggregation });
}

/** Returns how the threshold of an alert is written: for PER_EVENT it is one event's value. */
export function formatOfThreshold(alert: Condition): (value: number) => string {
  if (alert.alertType !== "PER_EVENT") return formatOfAlert(alert);
  return formatOf({ metric: alert.projections[0] ?? "" });
}

/** Returns a condition in a line, such as `p95 duration > 2.00 s, hourly`. */
export function describeCondition(alert: Condition, critical: AlertThreshold | undefined): string {
  const aggregation = chartAggregations[alert.aggregation] ?? "avg";
  const measures = alert.projections.map((metric) =>
    alert.alertType === "PER_EVENT" ? metric : measureName({ metric, aggregation }),
  );
  const value = formatOfThreshold(alert)(critical?.value ?? 0);
  const sign = signs[critical?.operator ?? ""] ?? critical?.operator ?? "";
  const change = alert.alertType === "DRIFT" ? "change of " : "";
  const any = alert.alertType === "PER_EVENT" ? "any event with " : "";
  const measured = `${any}${change}${measures.join(" or ")}`;
  return `${measured} ${sign} ${value}, ${alert.frequency.toLowerCase()}`;
}
