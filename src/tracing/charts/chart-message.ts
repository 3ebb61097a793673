// Converts questions about charts from messages, and charts and their answers to messages.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  ChartFields as FieldsMessage,
  ChartQuery as QueryMessage,
  ChartQuerySchema,
  ChartResultSchema,
  ChartSchema,
  EventChartPointSchema,
  GetEventChartRequest,
  QueryChartRequest,
} from "../../../gen/waggle/v1/chart_pb.js";
import { changedLists } from "../../base/changed-list.ts";
import { refuse } from "../../base/errors.ts";
import { toValueMessage } from "../../base/value-message.ts";
import { toBounds } from "../export/date-range.ts";
import { toFilterInput, toFilterMessage } from "../export/filter-message.ts";
import {
  type ChartRequest,
  type FieldNames,
  namesEventType,
  plainNames,
  withoutSessions,
} from "./chart-query.ts";
import type { ChartResult } from "./charts.ts";
import type { ChartFields } from "./stored-charts.ts";
import type { ShownChart } from "./shown.ts";
import type { StoredChart } from "./stored-store.ts";

/** Throws INVALID_ARGUMENT if no filter is on the type of events. */
export function toRequest(request: QueryChartRequest): ChartRequest {
  const { dateRange, productFilters } = request;
  const query = request.query ?? refuse("query", "is required");
  const filters = request.filters.map(toFilterInput);
  if (!namesEventType(filters)) {
    const why = "since a session and its events would count twice";
    refuse("filters", `one must be on event_type, with is or is not, ${why}`);
  }
  return {
    ...toShown(query),
    startTimeMs: dateRange?.startTime,
    endTimeMs: dateRange?.endTime,
    timezone: dateRange?.timezone,
    filters,
    run: {
      field: "product_filters.experiment_run_id",
      id: productFilters?.experimentRunId,
      isAny: productFilters?.onlyExperiments,
    },
  };
}

function toShown(query: QueryMessage): ShownChart {
  return {
    kind: query.kind,
    measures: query.measures.map(({ id, metric, aggregation, func }) => ({
      id,
      metric,
      aggregation: aggregation || func,
    })),
    unit: query.bucket?.unit,
    pointsMax: query.bucket?.maxPoints,
    splitBy: query.splitBy,
    splitLimit: query.splitRanking?.limit,
    includeOther: query.splitRanking?.includeOther,
  };
}

function toQueryMessage(shown: ShownChart): MessageInitShape<typeof ChartQuerySchema> {
  const { kind, measures, unit, pointsMax, splitBy, splitLimit, includeOther } = shown;
  return {
    kind,
    measures: measures.map(({ id = "", metric, aggregation }) => ({
      id,
      metric,
      ...(aggregation !== undefined && { aggregation }),
    })),
    ...((unit !== undefined || pointsMax !== undefined) && {
      bucket: {
        ...(unit !== undefined && { unit }),
        ...(pointsMax !== undefined && { maxPoints: pointsMax }),
      },
    }),
    ...(splitBy !== undefined && { splitBy }),
    ...((splitLimit !== undefined || includeOther !== undefined) && {
      splitRanking: {
        ...(splitLimit !== undefined && { limit: splitLimit }),
        ...(includeOther !== undefined && { includeOther }),
      },
    }),
  };
}

const pointsNames: FieldNames = {
  ...plainNames,
  bucket: "bucket",
  aggregation: () => "aggregation",
};

/** Returns the question of an older client. */
export function toPointsRequest(request: GetEventChartRequest): ChartRequest {
  const { dateRange, metric, aggregation, bucket, groupBy } = request;
  const { fromMs, toMs } = toBounds(dateRange);
  return {
    kind: "time_series",
    names: pointsNames,
    startTimeMs: fromMs.find((time) => time !== undefined),
    endTimeMs: toMs.find((time) => time !== undefined),
    filters: withoutSessions(request.filters.map(toFilterInput)),
    run: { field: "evaluation_id", id: request.evaluationId, isAny: request.onlyExperiments },
    measures: [{ metric: metric || "event_count", aggregation }],
    unit: bucket,
    splitBy: groupBy,
  };
}

export function toResultMessage(result: ChartResult): MessageInitShape<typeof ChartResultSchema> {
  const { kind, buckets, hasOtherBucket, series, measures, range, unit } = result;
  return {
    kind,
    data: {
      buckets: buckets.map(toValueMessage),
      hasOtherBucket,
      series: series.map(({ measure, split, isOther, values }) => ({
        measure,
        isOther,
        values: values.map(toValueMessage),
        ...(split !== null && { split }),
      })),
    },
    measures: measures.map(({ id, metric, aggregation }) => ({ id, metric, aggregation })),
    meta: {
      ...(unit && { effectiveBucket: unit }),
      matchedEventCount: result.matched,
      exact: true,
      splitCount: result.splits,
      startTime: range.fromMs,
      // The end of the range is the last millisecond that counts.
      endTime: range.toMs - 1,
      timezone: result.timezone,
      warnings: [...result.warnings],
    },
  };
}

/** Returns the start of a bucket, which is a text where the axis is time. */
function textOf(bucket: ChartResult["buckets"][number] | undefined): string {
  return typeof bucket === "string" ? bucket : "";
}

/** Returns the points of a chart of one measure. */
export function toPoints({
  buckets,
  series,
}: ChartResult): MessageInitShape<typeof EventChartPointSchema>[] {
  return series.flatMap(({ split, isOther, values }) =>
    values.map((value, at) => ({
      bucket: textOf(buckets[at]),
      ...(split !== null && { group: split }),
      isOther,
      ...(value !== null && { value }),
    })),
  );
}

/** Throws INVALID_ARGUMENT for another name among the emptied lists. */
export function toFields(message: FieldsMessage | undefined): ChartFields {
  if (!message) return {};
  const { name, metric, description, func, groupBy, bucketing, dateRange, query, ownerId } =
    message;
  const { shown, emptiedLists } = message;
  const filters = changedLists(["query"], emptiedLists)("query", query);
  return {
    name,
    metric,
    description,
    func,
    groupBy,
    bucketing,
    ownerId,
    range: dateRange,
    // An empty kind resets the chart to one measure over time.
    shown: shown && (shown.kind === "" ? null : toShown(shown)),
    filters: filters?.map(toFilterInput),
  };
}

export function toChartMessage(chart: StoredChart): MessageInitShape<typeof ChartSchema> {
  const { id, name, metric, description, aggregation, groupBy, unit, range, ownerId } = chart;
  return {
    id,
    name,
    metric,
    bucketing: unit,
    isActive: true,
    ...(description !== null && { description }),
    ...(aggregation !== null && { func: aggregation }),
    ...(groupBy !== null && { groupBy }),
    ...(range && { dateRange: range }),
    query: chart.filters.map(toFilterMessage),
    ...(ownerId !== null && { ownerId }),
    ...(chart.shown && { shown: toQueryMessage(chart.shown) }),
    createdAt: timestampFromDate(chart.createdAt),
    ...(chart.updatedAt && { updatedAt: timestampFromDate(chart.updatedAt) }),
  };
}
