// Answers of charts as numbers: totals, a histogram, and counts by value. Pure.

import type { QueryChartResponse } from "../../../../../gen/waggle/v1/chart_pb.js";

export type Totals = {
  readonly count: number;
  readonly errors: number;
  readonly tokens: number | undefined;
  readonly cost: number | undefined;
  readonly medianMs: number | undefined;
  readonly p95Ms: number | undefined;
};

export type Histogram = {
  /** Starts of the buckets, Unix milliseconds. */
  readonly times: readonly number[];
  /** Unit of the buckets. */
  readonly unit: string | undefined;
  readonly good: readonly number[];
  readonly bad: readonly number[];
};

export type ValueCount = { readonly value: string; readonly count: number };

/** Measures of `toTotals`, in this order. */
export const totalsMeasures = [
  { metric: "event_count", aggregation: "count", id: "count" },
  { metric: "error_rate", aggregation: "sum", id: "errors" },
  { metric: "total_tokens", aggregation: "sum", id: "tokens" },
  { metric: "cost", aggregation: "sum", id: "cost" },
  { metric: "duration", aggregation: "median", id: "median" },
  { metric: "duration", aggregation: "p95", id: "p95" },
] as const;

/** Measures of `toHistogram`. */
export const histogramMeasures = totalsMeasures.slice(0, 2);

/** Returns the totals of a scalar chart. */
export function toTotals(answer: QueryChartResponse): Totals {
  const first = (id: string) => numbersOf(answer, id)[0] ?? undefined;
  return {
    count: answer.data?.meta?.matchedEventCount ?? 0,
    errors: first("errors") ?? 0,
    tokens: first("tokens"),
    cost: first("cost"),
    medianMs: first("median"),
    p95Ms: first("p95"),
  };
}

/** Returns calls without and with an error of a chart over time. */
export function toHistogram(answer: QueryChartResponse): Histogram {
  const times = (answer.data?.data?.buckets ?? []).map(({ kind }) =>
    kind.case === "stringValue" ? Date.parse(kind.value) : Number.NaN,
  );
  const counts = numbersOf(answer, "count");
  const errors = numbersOf(answer, "errors");
  return {
    times,
    unit: answer.data?.meta?.effectiveBucket,
    good: times.map((_, index) => (counts[index] ?? 0) - (errors[index] ?? 0)),
    bad: times.map((_, index) => errors[index] ?? 0),
  };
}

/** Returns the values of a table's split with their counts; those without a value are left out. */
export function toValueCounts(answer: QueryChartResponse): readonly ValueCount[] {
  const counts = numbersOf(answer, "count");
  return (answer.data?.data?.buckets ?? []).flatMap(({ kind }, index) =>
    kind.case === "stringValue" ? [{ value: kind.value, count: counts[index] ?? 0 }] : [],
  );
}

function numbersOf(answer: QueryChartResponse, id: string): readonly (number | null)[] {
  const series = answer.data?.data?.series.find(({ measure }) => measure === id);
  return (series?.values ?? []).map(({ kind }) =>
    kind.case === "numberValue" ? kind.value : null,
  );
}
