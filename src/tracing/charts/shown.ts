// What a stored chart shows beyond one measure over time: kind, measures, buckets, split.
// Source: docs/decisions.md, 47.3.

import { refuse } from "../../base/errors.ts";
import { chartFieldLengthMax } from "../../base/field-limits.ts";
import { assertText } from "../../base/assert-text.ts";
import { chartBucketsMax, chartMeasuresMax, chartSplitsMax } from "../../base/tenant-limits.ts";
import { parseUnit } from "./buckets.ts";
import {
  assertCount,
  type ChartRequest,
  type MeasureRequest,
  parseAggregation,
  parseKind,
} from "./chart-query.ts";
import { isMeasure, isSplit } from "./fields.ts";

/** The part of a question that a stored chart keeps. */
export type ShownChart = Pick<
  ChartRequest,
  "kind" | "measures" | "unit" | "pointsMax" | "splitBy" | "splitLimit" | "includeOther"
>;

/**
 * Checks what a chart is to show, without looking for recorded values. Throws INVALID_ARGUMENT
 * naming the field.
 */
export function parseShown(shown: ShownChart): ShownChart {
  const kind = parseKind(shown.kind);
  const { measures, unit, pointsMax, splitBy = "", splitLimit, includeOther } = shown;
  if (measures.length === 0 || measures.length > chartMeasuresMax) {
    refuse("shown.measures", `must be 1 to ${chartMeasuresMax}`);
  }
  if (pointsMax !== undefined) assertCount("shown.bucket.max_points", pointsMax, chartBucketsMax);
  if (splitLimit !== undefined) {
    assertCount("shown.split_ranking.limit", splitLimit, chartSplitsMax);
  }
  assertText("shown.split_by", splitBy, chartFieldLengthMax);
  if (splitBy !== "" && !isSplit(splitBy)) refuse("shown.split_by", "is no field to split by");
  return {
    kind,
    measures: measures.map(parseMeasure),
    ...(unit && { unit: parseUnit("shown.bucket.unit", unit) }),
    ...(pointsMax !== undefined && { pointsMax }),
    ...(splitBy !== "" && { splitBy }),
    ...(splitLimit !== undefined && { splitLimit }),
    ...(includeOther !== undefined && { includeOther }),
  };
}

function parseMeasure({ id, metric, aggregation }: MeasureRequest, at: number): MeasureRequest {
  const path = `shown.measures[${at}]`;
  assertText(`${path}.metric`, metric, chartFieldLengthMax);
  if (!isMeasure(metric)) refuse(`${path}.metric`, "must be a measure or a path of an event");
  assertText(`${path}.id`, id ?? "", chartFieldLengthMax);
  return {
    metric,
    ...(id && { id }),
    ...(aggregation && {
      aggregation: parseAggregation(`${path}.aggregation`, aggregation, undefined),
    }),
  };
}
