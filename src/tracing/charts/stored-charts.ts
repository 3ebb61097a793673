// Stored charts of a project: a question about its events with a name, for its members to look at.
// Source: docs/spec.md, "Charts"; the published clients of this API; docs/decisions.md, 47.2.

import type { ChangeParts } from "../../access/change.ts";
import { createProjectResource, type ProjectResource } from "../../access/project-resource.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { assertName, assertText } from "../../base/assert-text.ts";
import { describeActor } from "../../base/actor.ts";
import { refuse } from "../../base/errors.ts";
import {
  chartDescriptionLengthMax,
  chartFieldLengthMax,
  chartNameLengthMax,
} from "../../base/field-limits.ts";
import { isUuid } from "../../base/ids.ts";
import { isTimeMs } from "../../base/iso-time.ts";
import { chartsOfProjectMax } from "../../base/tenant-limits.ts";
import { parseLength } from "../export/date-range.ts";
import type { FilterInput } from "../export/filter.ts";
import { anyFields, parseStoredFilters } from "../export/stored-filters.ts";
import { parseUnit } from "./buckets.ts";
import {
  type ChartRequest,
  parseAggregation,
  parseQuestion,
  plainNames,
  withoutSessions,
} from "./chart-query.ts";
import { isMeasure, isSplit } from "./fields.ts";
import { parseShown, type ShownChart, shownNames } from "./shown.ts";
import * as store from "./stored-store.ts";
import type { NewChart, StoredChart, StoredRange } from "./stored-store.ts";

/** Range of a request: `relative`, or bounds in Unix milliseconds. */
export type GivenRange = {
  readonly relative?: string | undefined;
  readonly gte?: number | undefined;
  readonly lte?: number | undefined;
};

/** Fields of a request; undefined means omitted. */
export type ChartFields = {
  readonly name?: string | undefined;
  readonly metric?: string | undefined;
  readonly description?: string | undefined;
  readonly func?: string | undefined;
  readonly groupBy?: string | undefined;
  readonly bucketing?: string | undefined;
  readonly range?: GivenRange | undefined;
  readonly filters?: readonly FilterInput[] | undefined;
  readonly ownerId?: string | undefined;
  /** Null for one measure over time. */
  readonly shown?: ShownChart | null | undefined;
};

/** An id that is not a UUID is an INVALID_ARGUMENT. */
export type StoredCharts = ProjectResource<StoredChart, ChartFields> & {
  /** Returns all charts of a project, oldest first. */
  list(project: ProjectScope): Promise<readonly StoredChart[]>;
};

export function createStoredCharts(parts: ChangeParts): StoredCharts {
  const resource = createProjectResource<StoredChart, NewChart, ChartFields>(parts, {
    type: "chart",
    rows: store.chartRows,
    async find(sql, { project, id }) {
      if (!isUuid(id)) refuse("chart_id", "must be a UUID");
      const [chart] = await store.listCharts(sql, project.projectId, { id, limit: 1 });
      return chart;
    },
    toRow: (fields, { id }, before) => toChart(fields, before ?? { id }),
    async put(sql, { project: { projectId }, actor }, { row, isNew }) {
      if (isNew && (await store.chartRows.count(sql, projectId)) >= chartsOfProjectMax) {
        refuse("name", `a project has at most ${chartsOfProjectMax} charts; delete one first`);
      }
      await store.putChart(sql, projectId, row, describeActor(actor));
    },
    stateOf,
  });
  return {
    ...resource,
    list: ({ projectId }) =>
      parts.database.readInTurn(projectId, (sql) =>
        store.listCharts(sql, projectId, { limit: chartsOfProjectMax }),
      ),
  };
}

/** Returns the chart that a request asks for, on top of the chart before. */
function toChart(fields: ChartFields, before: Pick<NewChart, "id"> & Partial<NewChart>): NewChart {
  const { name = before.name ?? "", metric = before.metric } = fields;
  const { filters = before.filters ?? [] } = fields;
  const aggregation = textOf("func", fields.func, before.aggregation, chartFieldLengthMax);
  if (aggregation !== null) parseAggregation("func", aggregation, undefined);
  const groupBy = textOf("groupBy", fields.groupBy, before.groupBy, chartFieldLengthMax);
  if (groupBy !== null && !isSplit(groupBy)) refuse("groupBy", "is not a field to group by");
  if (name !== before.name) assertName("name", name, chartNameLengthMax);
  if (metric === undefined || !isMeasure(metric)) {
    refuse("metric", "must be event_count, another measure, or a path of an event");
  }
  assertText("metric", metric, chartFieldLengthMax);
  const chart = {
    id: before.id,
    name,
    metric,
    description: textOf(
      "description",
      fields.description,
      before.description,
      chartDescriptionLengthMax,
    ),
    aggregation,
    groupBy,
    unit: fields.bucketing ? parseUnit("bucketing", fields.bucketing) : (before.unit ?? "day"),
    range: fields.range ? parseRange("dateRange", fields.range) : (before.range ?? null),
    filters: fields.filters ? parseStoredFilters("query", filters) : filters,
    ownerId: textOf("owner_id", fields.ownerId, before.ownerId, chartNameLengthMax),
    shown: fields.shown ? parseShown(fields.shown) : shownBefore(fields, before),
  };
  assertAnswerable(chart);
  return chart;
}

/** Throws INVALID_ARGUMENT naming the field if a chart has no answer, whatever events there are. */
function assertAnswerable(chart: NewChart): void {
  const question = questionOf(chart, undefined);
  // A range that begins in the future has an answer later.
  const nowMs = Math.max(Date.now(), question.startTimeMs ?? 0);
  parseQuestion(question, anyFields, nowMs);
}

/** Returns what the chart showed so far, unless the request ends it. */
function shownBefore({ shown }: ChartFields, before: Partial<NewChart>): ShownChart | null {
  return shown === null ? null : (before.shown ?? null);
}

/** Returns a given text, else that before; null for none and for an empty text. */
function textOf(
  field: string,
  given: string | undefined,
  before: string | null | undefined,
  lengthMax: number,
): string | null {
  if (given === undefined) return before ?? null;
  assertText(field, given, lengthMax);
  return given === "" ? null : given;
}

/**
 * Returns a range to store; null for an empty one. Throws INVALID_ARGUMENT naming the field below
 * `path`.
 */
export function parseRange(path: string, { relative, gte, lte }: GivenRange): StoredRange | null {
  if (relative !== undefined && relative !== "") {
    if (gte !== undefined || lte !== undefined) refuse(path, "must be relative or bounds");
    parseLength(`${path}.relative`, relative);
    return { relative };
  }
  for (const [field, time] of Object.entries({ $gte: gte, $lte: lte })) {
    if (time !== undefined && !isTimeMs(time)) refuse(`${path}.${field}`, "must be a time");
  }
  if (gte === undefined && lte === undefined) return null;
  return { ...(gte !== undefined && { gte }), ...(lte !== undefined && { lte }) };
}

/** Returns the question of a stored chart. */
export function questionOf(chart: NewChart, timezone: string | undefined): ChartRequest {
  const { range, groupBy, shown } = chart;
  const about = { ...boundsOf(range), timezone, filters: withoutSessions(chart.filters) };
  if (shown) return { ...shown, ...about, names: shownNames };
  return {
    kind: "time_series",
    names: plainNames,
    ...about,
    measures: [{ metric: chart.metric, aggregation: chart.aggregation ?? undefined }],
    unit: chart.unit,
    ...(groupBy !== null && { splitBy: groupBy }),
  };
}

function boundsOf(range: StoredRange | null): Pick<ChartRequest, "startTimeMs" | "endTimeMs"> {
  if (range === null) return {};
  if (!("relative" in range)) return { startTimeMs: range.gte, endTimeMs: range.lte };
  const endTimeMs = Date.now();
  return { startTimeMs: endTimeMs - parseLength("dateRange.relative", range.relative), endTimeMs };
}

/** Returns a chart's state for the audit log. */
function stateOf(chart: NewChart): Readonly<Record<string, unknown>> {
  const { name, metric, description, aggregation, groupBy, unit, range, filters, ownerId } = chart;
  const { shown } = chart;
  return { name, metric, description, aggregation, groupBy, unit, range, filters, ownerId, shown };
}
