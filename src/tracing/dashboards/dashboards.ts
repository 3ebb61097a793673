// Dashboards of a project: its stored charts in a grid, under a name. A chart that is deleted
// leaves every dashboard. Source: docs/decisions.md, 57.2.

import type { ChangeParts, Whose } from "../../access/change.ts";
import {
  createProjectResource,
  type ProjectResource,
  type Put,
} from "../../access/project-resource.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { describeActor } from "../../base/actor.ts";
import { assertName, assertText } from "../../base/assert-text.ts";
import { refuse } from "../../base/errors.ts";
import { dashboardDescriptionLengthMax, dashboardNameLengthMax } from "../../base/field-limits.ts";
import { isUuid } from "../../base/ids.ts";
import {
  dashboardColumns,
  dashboardRowsMax,
  dashboardsOfProjectMax,
  dashboardTilesMax,
  tileRowsMax,
} from "../../base/tenant-limits.ts";
import type { Sql } from "../../postgres/database.ts";
import * as store from "./store.ts";
import type { Dashboard, NewDashboard, Tile } from "./store.ts";

export type { Dashboard } from "./store.ts";

/** Fields of a request; undefined means omitted. */
export type DashboardFields = {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly tiles?: readonly Tile[] | undefined;
};

export type Dashboards = ProjectResource<Dashboard, DashboardFields> & {
  /** Returns all dashboards of a project, by name. */
  list(project: ProjectScope): Promise<readonly Dashboard[]>;
};

export function createDashboards(parts: ChangeParts): Dashboards {
  const resource = createProjectResource<Dashboard, NewDashboard, DashboardFields>(parts, {
    type: "dashboard",
    rows: store.dashboardRows,
    async find(sql, { project, id }) {
      const [row] = isUuid(id) ? await store.listDashboards(sql, project.projectId, id) : [];
      return row;
    },
    toRow: (fields, { id, actor }, before) =>
      toDashboard(fields, before ?? { id, createdBy: describeActor(actor) }),
    put,
    stateOf,
  });
  return {
    ...resource,
    list: ({ projectId }) =>
      parts.database.readInTurn(projectId, (sql) => store.listDashboards(sql, projectId)),
  };
}

/** Stores a dashboard after it holds the charts that its tiles name. */
async function put(
  sql: Sql,
  { project: { projectId } }: Whose,
  { row, isNew }: Put<NewDashboard>,
): Promise<void> {
  if (isNew && (await store.dashboardRows.count(sql, projectId)) >= dashboardsOfProjectMax) {
    refuse("name", `a project has at most ${dashboardsOfProjectMax} dashboards`);
  }
  const ids = row.tiles.map(({ chartId }) => chartId);
  const charts = await store.holdCharts(sql, projectId, ids);
  const at = ids.findIndex((id) => !charts.has(id.toLowerCase()));
  if (at >= 0) refuse(`layout.tiles[${at}].chart_id`, "names no chart of the project");
  await store.putDashboard(sql, projectId, row);
}

/** Returns the dashboard that a request asks for, on top of the dashboard before. */
function toDashboard(
  fields: DashboardFields,
  before: Pick<NewDashboard, "id" | "createdBy"> & Partial<NewDashboard>,
): NewDashboard {
  const { name = before.name ?? "", tiles = before.tiles ?? [] } = fields;
  const { description = before.description ?? "" } = fields;
  if (name !== before.name) assertName("name", name, dashboardNameLengthMax);
  assertText("description", description, dashboardDescriptionLengthMax);
  if (tiles.length > dashboardTilesMax) {
    refuse("layout.tiles", `must be at most ${dashboardTilesMax}`);
  }
  for (const [at, tile] of tiles.entries()) assertTile(`layout.tiles[${at}]`, tile);
  const { id, createdBy } = before;
  return { id, createdBy, name, description: description || null, tiles };
}

function assertTile(path: string, { chartId, x, y, w, h }: Tile): void {
  if (!isUuid(chartId)) refuse(`${path}.chart_id`, "must be a UUID");
  if (x < 0 || w < 1 || x + w > dashboardColumns) {
    refuse(path, `x and w must lie within the ${dashboardColumns} columns`);
  }
  if (y < 0 || y > dashboardRowsMax) refuse(`${path}.y`, `must be 0 to ${dashboardRowsMax}`);
  if (h < 1 || h > tileRowsMax) refuse(`${path}.h`, `must be 1 to ${tileRowsMax}`);
}

/** Returns a dashboard's state for the audit log. */
function stateOf({ name, description, tiles }: NewDashboard): Readonly<Record<string, unknown>> {
  return { name, description, tiles };
}
