// SQL of stored charts, in the control database.

import type { Sql } from "../../postgres/database.ts";
import { deletableRows } from "../../postgres/project-rows.ts";
import type { FilterInput } from "../export/filter.ts";
import type { BucketUnit } from "./buckets.ts";
import type { ShownChart } from "./shown.ts";

/** Range of a stored chart: a length up to now, or bounds in Unix milliseconds. */
export type StoredRange =
  | { readonly relative: string }
  | { readonly gte?: number | undefined; readonly lte?: number | undefined };

export type StoredChart = {
  readonly id: string;
  readonly name: string;
  readonly metric: string;
  readonly description: string | null;
  readonly aggregation: string | null;
  readonly groupBy: string | null;
  readonly unit: BucketUnit;
  readonly range: StoredRange | null;
  readonly filters: readonly FilterInput[];
  readonly ownerId: string | null;
  /** Null for one measure over time. */
  readonly shown: ShownChart | null;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
};

export type NewChart = Omit<StoredChart, "createdAt" | "updatedAt">;

/** Lock, number and deletion of a project's charts. */
export const chartRows = deletableRows("charts", "chart_id");

/** Returns the charts of a project, oldest first, at most `limit`; or the one of an id. */
export async function listCharts(
  sql: Sql,
  projectId: string,
  { id, limit }: { readonly id?: string; readonly limit: number },
): Promise<readonly StoredChart[]> {
  return sql<StoredChart[]>`
    select
      chart_id as id, name, metric, description, aggregation, group_by as "groupBy",
      bucket_unit as unit, date_range as range, filters, owner_id as "ownerId", shown,
      created_at as "createdAt", updated_at as "updatedAt"
    from charts
    where project_id = ${projectId} ${id === undefined ? sql`` : sql`and chart_id = ${id}`}
    order by created_at, chart_id
    limit ${limit}`;
}

/** Inserts a chart, or replaces it. */
export async function putChart(
  sql: Sql,
  projectId: string,
  chart: NewChart,
  createdBy: string,
): Promise<void> {
  await sql`
    insert into charts (
      chart_id, project_id, name, metric, description, aggregation, group_by, bucket_unit,
      date_range, filters, owner_id, shown, created_by
    )
    values (
      ${chart.id}, ${projectId}, ${chart.name}, ${chart.metric}, ${chart.description},
      ${chart.aggregation}, ${chart.groupBy}, ${chart.unit},
      ${chart.range && JSON.stringify(chart.range)}::text::json,
      ${JSON.stringify(chart.filters)}::text::json, ${chart.ownerId},
      ${chart.shown && JSON.stringify(chart.shown)}::text::json, ${createdBy}
    )
    on conflict (chart_id) do update set
      name = excluded.name,
      metric = excluded.metric,
      description = excluded.description,
      aggregation = excluded.aggregation,
      group_by = excluded.group_by,
      bucket_unit = excluded.bucket_unit,
      date_range = excluded.date_range,
      filters = excluded.filters,
      owner_id = excluded.owner_id,
      shown = excluded.shown,
      updated_at = clock_timestamp()
    where charts.project_id = excluded.project_id`;
}
