// A chart's question: parses and checks it. Source: the published clients of this API;
// docs/decisions.md, 17, 27, 47.1; docs/charts.md.

import { assertCount } from "../../base/assert-count.ts";
import { parseChoice, refuseChoice } from "../../base/choices.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { isTimeMs } from "../../base/iso-time.ts";
import { chartBucketsMax, chartMeasuresMax, chartSplitsMax } from "../../base/tenant-limits.ts";
import type { FilterInput } from "../export/filter.ts";
import type { ProjectFields } from "../fields/fields.ts";
import {
  assertBuckets,
  type BucketUnit,
  parseUnit,
  parseZone,
  pickUnit,
  type TimeRange,
  type ZonedRange,
} from "./buckets.ts";
import { numberSource, type NumberSource, textSource, type TextSource } from "./fields.ts";

const chartKinds = ["time_series", "categorical", "scalar", "histogram", "table"] as const;
export type ChartKind = (typeof chartKinds)[number];

/** Aggregations, with the other names that clients send. */
const aggregations = {
  count: [],
  sum: [],
  avg: ["average", "mean"],
  min: [],
  max: [],
  median: ["p50"],
  p75: [],
  p90: [],
  p95: [],
  p99: [],
} as const satisfies Record<string, readonly string[]>;
export type Aggregation = keyof typeof aggregations;

/** Parts of the percentiles among the aggregations. */
export const percentiles: Partial<Record<Aggregation, number>> = {
  median: 0.5,
  p75: 0.75,
  p90: 0.9,
  p95: 0.95,
  p99: 0.99,
};

/** A measure as a request names it. */
export type MeasureRequest = {
  readonly id?: string | undefined;
  readonly metric: string;
  readonly aggregation?: string | undefined;
};

export type RunRequest = {
  /** Name of the id in the request. */
  readonly field: string;
  /** Absent or empty means any event. */
  readonly id: string | undefined;
  /** Whether events of runs count alone. */
  readonly isAny: boolean | undefined;
};

/** Names of fields in requests, for errors. */
export type FieldNames = {
  readonly kind: string;
  readonly range: string;
  /** Names of the bounds inside the range. */
  readonly start: string;
  readonly end: string;
  readonly timezone: string;
  readonly bucket: string;
  readonly pointsMax: string;
  readonly split: string;
  readonly splitLimit: string;
  readonly measures: string;
  /** Returns the name of a measure of a place, and of its aggregation. */
  readonly metric: (at: number) => string;
  readonly aggregation: (at: number) => string;
};

const questionNames: FieldNames = {
  kind: "query.kind",
  measures: "query.measures",
  timezone: "date_range.timezone",
  range: "date_range",
  start: "start_time",
  end: "end_time",
  bucket: "query.bucket.unit",
  pointsMax: "query.bucket.max_points",
  split: "query.split_by",
  splitLimit: "query.split_ranking.limit",
  metric: (at) => `query.measures[${at}].metric`,
  aggregation: (at) => `query.measures[${at}].aggregation`,
};

/** Names of the fields of a chart of one measure, stored or of an older client. */
export const plainNames: FieldNames = {
  kind: "kind",
  measures: "metric",
  timezone: "timezone",
  range: "dateRange",
  start: "$gte",
  end: "$lte",
  bucket: "bucketing",
  pointsMax: "bucketing",
  split: "groupBy",
  splitLimit: "groupBy",
  metric: () => "metric",
  aggregation: () => "func",
};

/** Returns the names of a request's fields. */
export function namesOf({ names = questionNames }: Pick<ChartRequest, "names">): FieldNames {
  return names;
}

export type ChartRequest = {
  /** Default: the names of QueryChart. */
  readonly names?: FieldNames;
  readonly kind: string;
  /** Unix milliseconds, both included; default: the last seven days. */
  readonly startTimeMs?: number | undefined;
  readonly endTimeMs?: number | undefined;
  /** Default: UTC. */
  readonly timezone?: string | undefined;
  readonly filters: readonly FilterInput[];
  /** Experiment run of the events. */
  readonly run?: RunRequest;
  readonly measures: readonly MeasureRequest[];
  /** Unit of the buckets of time; default: the smallest with at most `pointsMax` of them. */
  readonly unit?: string | undefined;
  readonly pointsMax?: number | undefined;
  readonly splitBy?: string | undefined;
  readonly splitLimit?: number | undefined;
  readonly includeOther?: boolean | undefined;
};

export type Measure = {
  readonly id: string;
  readonly metric: string;
  readonly aggregation: Aggregation;
  readonly source: NumberSource;
};

export type Split = {
  readonly source: TextSource;
  /** Number of values that have a series of their own. */
  readonly limit: number;
  readonly includeOther: boolean;
};

export type ChartQuestion = {
  readonly kind: ChartKind;
  readonly range: TimeRange;
  readonly timezone: string;
  readonly measures: readonly Measure[];
  /** Undefined if the chart has no axis of time. */
  readonly unit: BucketUnit | undefined;
  /** Number of bars of a histogram. */
  readonly bars: number;
  readonly split: Split | undefined;
};

/**
 * Returns whether filters say which types of events count. Other operators, such as `exists`, may
 * leave sessions beside their events.
 */
export function namesEventType(filters: readonly FilterInput[]): boolean {
  return filters.some(
    ({ field, operator, value }) =>
      field === "event_type" && (operator === "is" || operator === "is not") && value !== null,
  );
}

/** Returns filters that leave sessions out, which their events would count twice, by default. */
export function withoutSessions(filters: readonly FilterInput[]): readonly FilterInput[] {
  if (namesEventType(filters)) return filters;
  return [...filters, { field: "event_type", operator: "is not", value: "session" }];
}

const rangeMsDefault = 7 * 86_400_000;
const pointsMaxDefault = 100;
const barsDefault = 20;
const splitLimitDefault = 10;

/** Throws INVALID_ARGUMENT naming the field. `nowMs` ends the default range. */
export function parseQuestion(
  request: ChartRequest,
  fields: ProjectFields,
  nowMs: number,
): ChartQuestion {
  const names = namesOf(request);
  const kind = parseKind(names.kind, request.kind);
  const range = parseRange(request, nowMs);
  const { splitBy = "", pointsMax } = request;
  if (pointsMax !== undefined) assertCount(names.pointsMax, pointsMax, chartBucketsMax);
  if (splitBy === "" && (kind === "categorical" || kind === "table")) {
    refuse(names.split, `must name the field whose values a ${kind} chart shows`);
  }
  if (splitBy !== "" && kind === "histogram") refuse(names.split, "is not for a histogram");
  const timezone = parseZone(names.timezone, request.timezone || "UTC");
  const unit = kind === "time_series" ? unitOf(request, { ...range, timezone }) : undefined;
  return {
    kind,
    range,
    timezone,
    measures: parseMeasures(request.measures, { kind, fields, names }),
    unit,
    bars: pointsMax ?? barsDefault,
    split: splitBy === "" ? undefined : parseSplit(request, splitBy, fields),
  };
}

/** Throws INVALID_ARGUMENT, and NOT_IMPLEMENTED for a kind of other products. */
export function parseKind(field: string, name: string): ChartKind {
  if (name === "scatter") {
    throw new ServiceError("NOT_IMPLEMENTED", `${field}: scatter charts are not built`);
  }
  return parseChoice(field, chartKinds, name);
}

function parseRange(request: ChartRequest, nowMs: number): TimeRange {
  const { startTimeMs, endTimeMs } = request;
  const { range, start, end } = namesOf(request);
  for (const [field, time] of Object.entries({ [start]: startTimeMs, [end]: endTimeMs })) {
    if (time !== undefined && !isTimeMs(time)) refuse(`${range}.${field}`, "must be a time");
  }
  // The end is included: answers show whole milliseconds.
  const toMs = Math.floor(endTimeMs ?? nowMs) + 1;
  const fromMs = Math.floor(startTimeMs ?? toMs - rangeMsDefault);
  if (fromMs >= toMs) refuse(range, `${start} must not be after ${end}`);
  return { fromMs, toMs };
}

function unitOf(request: ChartRequest, range: ZonedRange) {
  const { unit, pointsMax = pointsMaxDefault } = request;
  const { bucket } = namesOf(request);
  const chosen =
    unit === undefined || unit === "" ? pickUnit(range, pointsMax) : parseUnit(bucket, unit);
  assertBuckets(bucket, range, chosen);
  return chosen;
}

type MeasureContext = {
  readonly kind: ChartKind;
  readonly fields: ProjectFields;
  readonly names: FieldNames;
};

function parseMeasures(
  requests: readonly MeasureRequest[],
  { kind, fields, names }: MeasureContext,
): readonly Measure[] {
  if (requests.length === 0) refuse(names.measures, "must name a measure");
  if (requests.length > chartMeasuresMax) {
    refuse(names.measures, `must be at most ${chartMeasuresMax}`);
  }
  if (kind === "histogram" && requests.length > 1) {
    refuse(names.measures, "must be one for a histogram");
  }
  const measures = requests.map((request, index) => {
    const source = numberSource(names.metric(index), request.metric, fields);
    if (kind === "histogram" && source.kind === "event") {
      refuse(names.metric(index), "must have numbers for a histogram");
    }
    const aggregation = parseAggregation(names.aggregation(index), request.aggregation, source);
    return { id: request.id || `m${index + 1}`, metric: request.metric, aggregation, source };
  });
  const doubled = measures.find(({ id }, at) => measures.findIndex((one) => one.id === id) !== at);
  if (doubled) refuse(names.measures, `two have the id ${JSON.stringify(doubled.id)}`);
  return measures;
}

/** Throws INVALID_ARGUMENT naming the field. Counts events, sums usage, averages the rest. */
export function parseAggregation(
  field: string,
  name: string | undefined,
  source: NumberSource | undefined,
): Aggregation {
  if (name === undefined || name === "") {
    if (source?.kind === "event") return "count";
    return source?.kind === "usage" ? "sum" : "avg";
  }
  const names = Object.entries(aggregations);
  const found = names.find(([own, others]) => own === name || others.some((one) => one === name));
  if (!found) refuseChoice(field, Object.keys(aggregations), name);
  const [aggregation] = found as [Aggregation, unknown];
  if (source?.kind === "event" && aggregation !== "count") {
    refuse(field, "must be count for event_count");
  }
  return aggregation;
}

function parseSplit(request: ChartRequest, splitBy: string, fields: ProjectFields): Split {
  const { splitLimit = splitLimitDefault, includeOther = true } = request;
  const names = namesOf(request);
  assertCount(names.splitLimit, splitLimit, chartSplitsMax);
  return { source: textSource(names.split, splitBy, fields), limit: splitLimit, includeOther };
}
