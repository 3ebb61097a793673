// Answers of charts as pages show them: series with labels, formats by measure, text for a sheet.

import type { Value } from "@bufbuild/protobuf/wkt";
import type { ChartResult } from "../../../../../gen/waggle/v1/chart_pb.js";
import { formatCost, formatCount, formatDuration, toInertCell } from "../../design/format.ts";
import { type Measure, measureName } from "./question.ts";

export type AnswerSeries = {
  readonly label: string;
  /** Position of the measure in the question. */
  readonly measure: number;
  /** Value of the split; undefined without a split and for the others together. */
  readonly split: string | null | undefined;
  readonly isOther: boolean;
  readonly values: readonly (number | null)[];
};

export type Bucket =
  | { readonly kind: "time"; readonly startMs: number }
  | { readonly kind: "value"; readonly value: string | null; readonly isOther: boolean }
  | { readonly kind: "bounds"; readonly from: number; readonly to: number };

export type Answer = {
  readonly kind: string;
  readonly measures: readonly Measure[];
  readonly buckets: readonly Bucket[];
  readonly series: readonly AnswerSeries[];
  readonly matched: number;
  readonly isExact: boolean;
  readonly splitCount: number;
  readonly unit: string | undefined;
  readonly warnings: readonly string[];
  readonly fromMs: number;
  readonly toMs: number;
};

/** Reads an answer of the API. */
export function toAnswer(result: ChartResult, hasSplit: boolean): Answer {
  const { kind, data, meta, measures } = result;
  const buckets = (data?.buckets ?? []).map((bucket, index, all) =>
    toBucket(kind, bucket, data?.hasOtherBucket === true && index === all.length - 1),
  );
  const isBySplit = kind === "categorical" || kind === "table" || !hasSplit;
  return {
    kind,
    measures,
    buckets,
    series: (data?.series ?? []).map((series) => {
      const measure = Math.max(
        0,
        measures.findIndex(({ id }) => id === series.measure),
      );
      // A histogram counts the events whose values of the measure lie in a bar.
      const name =
        kind === "histogram"
          ? "events"
          : measureName(measures[measure] ?? { metric: series.measure });
      const split = series.split ?? null;
      const value = series.isOther ? "other" : (split ?? "none");
      const label = isBySplit ? name : measures.length > 1 ? `${value}: ${name}` : value;
      return {
        label,
        measure,
        split: isBySplit || series.isOther ? undefined : split,
        isOther: series.isOther,
        values: series.values.map(toNumber),
      };
    }),
    matched: meta?.matchedEventCount ?? 0,
    isExact: meta?.exact ?? false,
    splitCount: meta?.splitCount ?? 0,
    unit: meta?.effectiveBucket,
    warnings: meta?.warnings ?? [],
    fromMs: meta?.startTime ?? 0,
    toMs: meta?.endTime ?? 0,
  };
}

function toBucket(kind: string, { kind: value }: Value, isOther: boolean): Bucket {
  if (kind === "histogram" && value.case === "structValue") {
    const { fields } = value.value;
    return {
      kind: "bounds",
      from: toNumber(fields["from"]) ?? 0,
      to: toNumber(fields["to"]) ?? 0,
    };
  }
  const text = value.case === "stringValue" ? value.value : null;
  if (kind === "time_series") return { kind: "time", startMs: Date.parse(text ?? "") };
  return { kind: "value", value: text, isOther };
}

function toNumber(value: Value | undefined): number | null {
  return value?.kind.case === "numberValue" ? value.kind.value : null;
}

/** Returns a bucket as people read it. */
export function bucketName(bucket: Bucket, format: (value: number) => string): string {
  switch (bucket.kind) {
    case "time":
      return new Date(bucket.startMs).toISOString();
    case "bounds":
      return `${format(bucket.from)} – ${format(bucket.to)}`;
    case "value":
      return bucket.isOther ? "other" : (bucket.value ?? "none");
  }
}

/** The digits before the point stay, and of small values those that matter. */
const roundingPriority = "morePrecision";
const number = new Intl.NumberFormat("en", {
  maximumSignificantDigits: 4,
  maximumFractionDigits: 0,
  roundingPriority,
});
const percent = new Intl.NumberFormat("en", {
  maximumSignificantDigits: 1,
  maximumFractionDigits: 1,
  roundingPriority,
});

/** Returns how values of a measure are written, with their unit. */
export function formatOf({ metric, aggregation }: Measure): (value: number) => string {
  if (aggregation === "count") return formatCount;
  switch (metric) {
    case "duration":
    case "latency":
      return formatDuration;
    case "cost":
    case "metadata.cost":
      return formatCost;
    case "error_rate":
      return aggregation === "sum" ? formatCount : (value) => `${percent.format(value * 100)} %`;
    case "event_count":
      return formatCount;
    default:
      return metric.endsWith("tokens")
        ? (value) => formatCount(Math.round(value))
        : (value) => number.format(value);
  }
}

/** Returns the unit of a measure's values: those of one unit have one axis. */
export function unitOf({ metric, aggregation }: Measure): string {
  if (aggregation === "count") return "event_count";
  return metric.endsWith("tokens") ? "tokens" : metric;
}

/** Returns an answer as CSV: a row for each bucket, a column for each series. */
export function toCsv({ buckets, series, kind }: Answer): string {
  const head = kind === "time_series" ? "time" : kind === "histogram" ? "from" : "value";
  const rows = (buckets.length === 0 ? [undefined] : buckets).map((bucket, at) => [
    ...(bucket === undefined ? [] : startOf(bucket)),
    ...series.map(({ values }) => values[at] ?? ""),
  ]);
  const bounds = kind === "histogram" ? ["from", "to"] : [head];
  const heads = [...(buckets.length === 0 ? [] : bounds), ...series.map(({ label }) => label)];
  return [heads, ...rows].map((row) => row.map(toCell).join(",")).join("\r\n");
}

function startOf(bucket: Bucket): readonly (string | number)[] {
  if (bucket.kind === "bounds") return [bucket.from, bucket.to];
  return [bucketName(bucket, String)];
}

/** Significant digits of a number in CSV: sums of doubles are off in the last ones. */
const csvDigits = 12;

/** Quotes a cell, which no sheet takes for a formula. */
function toCell(value: string | number): string {
  if (typeof value === "number") return String(Number(value.toPrecision(csvDigits)));
  const inert = toInertCell(value);
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
