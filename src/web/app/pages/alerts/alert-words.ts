// Words for alerts: states, operators, conditions.

import type { AlertThreshold } from "../../../../../gen/waggle/v1/alert_pb.js";
import type { Tone } from "../../design/badge.tsx";
import { measureName } from "../charts/question.ts";
import { chartAggregations, type Condition, formatOfThreshold } from "./alert-values.ts";

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

export const periods: Readonly<Record<string, string>> = {
  HOURLY: "hour",
  DAILY: "day",
  WEEKLY: "week",
  MONTHLY: "month",
};

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
