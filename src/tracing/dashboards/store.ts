// SQL of dashboards and their tiles, in the control database.

import type { Sql } from "../../postgres/database.ts";
import { deletableRows } from "../../postgres/project-rows.ts";

/** Place of a chart in the grid. */
export type Tile = {
  readonly chartId: string;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
};

export type Dashboard = {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly tiles: readonly Tile[];
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
};

export type NewDashboard = Omit<Dashboard, "createdAt" | "updatedAt">;

/** Lock, number and deletion of a project's dashboards. */
export const dashboardRows = deletableRows("dashboards", "dashboard_id");

/** Returns the dashboards of a project by name, or the one of an id. */
export async function listDashboards(
  sql: Sql,
  projectId: string,
  id?: string,
): Promise<readonly Dashboard[]> {
  return sql<Dashboard[]>`
    select
      d.dashboard_id as id, d.name, d.description,
      coalesce((
        select json_agg(
          json_build_object('chartId', t.chart_id, 'x', t.x, 'y', t.y, 'w', t.w, 'h', t.h)
          order by t.position)
        from dashboard_tiles as t
        where t.dashboard_id = d.dashboard_id), '[]') as tiles,
      d.created_by as "createdBy", d.created_at as "createdAt", d.updated_at as "updatedAt"
    from dashboards as d
    where d.project_id = ${projectId} ${id === undefined ? sql`` : sql`and d.dashboard_id = ${id}`}
    order by d.name, d.dashboard_id`;
}

/**
 * Returns those of the ids that are charts of a project. The lock keeps them from being deleted
 * until the transaction ends.
 */
export async function holdCharts(
  sql: Sql,
  projectId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }[]>`
    select chart_id as id
    from charts
    where project_id = ${projectId} and chart_id = any(${ids}::uuid[])
    order by chart_id
    for key share`;
  return new Set(rows.map(({ id }) => id));
}

/** Inserts a dashboard with its tiles, or replaces both. */
export async function putDashboard(
  sql: Sql,
  projectId: string,
  { id, name, description, tiles, createdBy }: NewDashboard,
): Promise<void> {
  await sql`
    insert into dashboards (dashboard_id, project_id, name, description, created_by)
    values (${id}, ${projectId}, ${name}, ${description}, ${createdBy})
    on conflict (dashboard_id) do update set
      name = excluded.name,
      description = excluded.description,
      updated_at = clock_timestamp()
    where dashboards.project_id = excluded.project_id`;
  await sql`delete from dashboard_tiles where dashboard_id = ${id}`;
  await sql`
    insert into dashboard_tiles (dashboard_id, position, chart_id, x, y, w, h)
    select ${id}, t.position, t."chartId", t.x, t.y, t.w, t.h
    from jsonb_to_recordset(
      ${JSON.stringify(tiles.map((tile, position) => ({ position, ...tile })))}::text::jsonb
    ) as t(position integer, "chartId" uuid, x integer, y integer, w integer, h integer)`;
}
