// Thresholds of an alert as lines of a chart.

import type { AlertThresholds } from "../../../../../gen/waggle/v1/alert_pb.js";
import type { ChartSeries } from "../../design/chart.tsx";
import { signs } from "./alert-words.ts";

type WithThresholds = {
  readonly thresholds?: Pick<AlertThresholds, "critical" | "resolved"> | undefined;
};

/** Returns a line for each threshold with a value, over a number of points. */
export function thresholdSeries(
  { thresholds }: WithThresholds,
  points: number,
): readonly ChartSeries[] {
  const line = (label: string, value: number, color: 3 | "bad"): ChartSeries => ({
    label,
    color,
    values: Array.from({ length: points }, () => value),
  });
  const { critical, resolved } = thresholds ?? {};
  return [
    ...(critical?.value === undefined
      ? []
      : [line(`triggers ${signs[critical.operator] ?? ""}`, critical.value, "bad")]),
    ...(resolved?.value === undefined
      ? []
      : [line(`resolved ${signs[resolved.operator] ?? ""}`, resolved.value, 3)]),
  ];
}
