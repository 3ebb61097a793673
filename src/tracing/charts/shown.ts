// Display of a stored chart beyond one measure over time: kind, measures, buckets, split.
// Source: docs/decisions.md, 47.3.

import { assertCount } from "../../base/assert-count.ts";
import { refuse } from "../../base/errors.ts";
import { chartFieldLengthMax } from "../../base/field-limits.ts";
import { assertText } from "../../base/assert-text.ts";
import { chartBucketsMax, chartMeasuresMax, chartSplitsMax } from "../../base/tenant-limits.ts";
import { parseUnit } from "./buckets.ts";
import {
  type ChartRequest,
  type FieldNames,
  type MeasureRequest,
  parseAggregation,
  parseKind,
  plainNames,
} from "./chart-query.ts";
import { isMeasure, isSplit } from "./fields.ts";

/** The part of a question that a stored chart keeps. */
export type ShownChart = Pick<
  ChartRequest,
  "kind" | "measures" | "unit" | "pointsMax" | "splitBy" | "splitLimit" | "includeOther"
>;

/** Names of what a chart shows, for errors. */
export const shownNames: FieldNames = {
  ...plainNames,
  kind: "shown.kind",
  measures: "shown.measures",
  bucket: "shown.bucket.unit",
  pointsMax: "shown.bucket.max_points",
  split: "shown.split_by",
  splitLimit: "shown.split_ranking.limit",
  metric: (at) => `shown.measures[${at}].metric`,
  aggregation: (at) => `shown.measures[${at}].aggregation`,
};

/**
 * Checks the kind and measures of a chart, without looking for recorded values. Throws
 * INVALID_ARGUMENT naming the field.
 */
export function parseShown(shown: ShownChart): ShownChart {
  const names = shownNames;
  const kind = parseKind(names.kind, shown.kind);
  const { measures, unit, pointsMax, splitBy = "", splitLimit, includeOther } = shown;
  if (measures.length === 0 || measures.length > chartMeasuresMax) {
    refuse(names.measures, `must be 1 to ${chartMeasuresMax}`);
  }
  if (pointsMax !== undefined) assertCount(names.pointsMax, pointsMax, chartBucketsMax);
  if (splitLimit !== undefined) {
    assertCount(names.splitLimit, splitLimit, chartSplitsMax);
  }
  assertText(names.split, splitBy, chartFieldLengthMax);
  if (splitBy !== "" && !isSplit(splitBy)) refuse(names.split, "is not a field to split by");
  return {
    kind,
    measures: measures.map(parseMeasure),
    ...(unit && { unit: parseUnit(names.bucket, unit) }),
    ...(pointsMax !== undefined && { pointsMax }),
    ...(splitBy !== "" && { splitBy }),
    ...(splitLimit !== undefined && { splitLimit }),
    ...(includeOther !== undefined && { includeOther }),
  };
}

function parseMeasure({ id, metric, aggregation }: MeasureRequest, at: number): MeasureRequest {
  const field = shownNames.metric(at);
  assertText(field, metric, chartFieldLengthMax);
  if (!isMeasure(metric)) refuse(field, "must be a measure or a path of an event");
  assertText(`shown.measures[${at}].id`, id ?? "", chartFieldLengthMax);
  return {
    metric,
    ...(id && { id }),
    ...(aggregation && {
      aggregation: parseAggregation(shownNames.aggregation(at), aggregation, undefined),
    }),
  };
}
