// Questions as messages of the API, and stored charts as questions.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  Chart,
  ChartFieldsSchema,
  ChartQuerySchema,
  QueryChartRequestSchema,
} from "../../../../../gen/waggle/v1/chart_pb.js";
import type { Filter } from "../../../../../gen/waggle/v1/filter_pb.js";
import { type FilterRow, type FilterType, type Operator, toMessage } from "../../design/filters.ts";
import { boundsOf, type TimeRange, zoneName } from "../../design/time-range.ts";
import { kinds, type Question } from "./question.ts";

/** Points of an axis of time: few enough to be told apart. */
const pointsMax = 400;
const barsDefault = 24;

/** Returns the part of a question that a stored chart keeps. */
function toQuery(question: Question): MessageInitShape<typeof ChartQuerySchema> {
  const { kind, measures, splitBy, splits = 10, unit, bars = barsDefault } = question;
  return {
    kind,
    measures: measures.map(({ metric, aggregation }) => ({
      metric,
      ...(aggregation !== undefined && { aggregation }),
    })),
    ...(kind === "time_series" && { bucket: { maxPoints: pointsMax, ...(unit && { unit }) } }),
    ...(kind === "histogram" && { bucket: { maxPoints: bars } }),
    ...(splitBy !== undefined &&
      kind !== "histogram" && { splitBy, splitRanking: { limit: splits, includeOther: true } }),
  };
}

function choosesType({ field, operator }: FilterRow): boolean {
  return field === "event_type" && (operator === "is" || operator === "is not");
}

/** Returns the filters with one on the type of events, which every question needs. */
export function withEventType(filters: readonly FilterRow[]): readonly FilterRow[] {
  if (filters.some(choosesType)) return filters;
  return [...filters, { field: "event_type", operator: "is not", value: "session" }];
}

/** Returns the request that answers a question about a range. */
export function toRequest(
  question: Question,
  range: TimeRange,
  nowMs: number,
): MessageInitShape<typeof QueryChartRequestSchema> {
  const { from, to } = boundsOf(range, nowMs);
  return {
    dateRange: {
      startTime: from,
      ...(to !== undefined && { endTime: to }),
      timezone: zoneName,
    },
    filters: withEventType(question.filters).map(toMessage),
    query: toQuery(question),
  };
}

/** Returns the fields that store a question under a name. */
export function toChartFields(
  name: string,
  question: Question,
): MessageInitShape<typeof ChartFieldsSchema> {
  const [first] = question.measures;
  return {
    name,
    metric: first?.metric ?? "event_count",
    // Empty texts end what an older client has set.
    func: first?.aggregation ?? "",
    groupBy: question.splitBy ?? "",
    bucketing: question.unit ?? "day",
    query: withEventType(question.filters).map(toMessage),
    shown: toQuery(question),
  };
}

/** Returns the question of a stored chart, those of older clients too. */
export function fromChart(chart: Chart): Question {
  const { shown, metric, func, groupBy, bucketing } = chart;
  const filters = chart.query.map(fromFilter);
  if (!shown) {
    return {
      kind: "time_series",
      measures: [{ metric, ...(func && { aggregation: func }) }],
      ...(groupBy && { splitBy: groupBy }),
      unit: bucketing,
      filters,
    };
  }
  return {
    kind: kinds.find((kind) => kind === shown.kind) ?? "time_series",
    measures: shown.measures.map((one) => ({
      metric: one.metric,
      ...(one.aggregation && { aggregation: one.aggregation }),
    })),
    ...(shown.splitBy && { splitBy: shown.splitBy }),
    ...(shown.splitRanking?.limit && { splits: shown.splitRanking.limit }),
    ...(shown.bucket?.unit && { unit: shown.bucket.unit }),
    ...(shown.kind === "histogram" && shown.bucket?.maxPoints && { bars: shown.bucket.maxPoints }),
    filters,
  };
}

/** Returns a filter of the API as the filter bar has it. */
export function fromFilter({ field, operator, value, type }: Filter): FilterRow {
  const kind = value?.kind;
  const isShown =
    kind?.case === "stringValue" || kind?.case === "numberValue" || kind?.case === "boolValue";
  return {
    field,
    operator: operator as Operator,
    ...(isShown && { value: kind.value }),
    ...(type && { type: type as FilterType }),
  };
}
