// Dashboards of a project: its stored charts in a grid, under a name. A chart that is deleted
// leaves every dashboard. Source: docs/decisions.md, 57.2.

import { type ChangeParts, changeInside, isChange, type Whose } from "../../access/change.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { type Actor, describeActor } from "../../base/actor.ts";
import { assertName, assertText } from "../../base/assert-text.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { dashboardDescriptionLengthMax, dashboardNameLengthMax } from "../../base/field-limits.ts";
import { createUuid, isUuid } from "../../base/ids.ts";
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

/** Each change is audited. */
export type Dashboards = {
  /** Throws INVALID_ARGUMENT naming the field. */
  create(project: ProjectScope, fields: DashboardFields, actor: Actor): Promise<Dashboard>;
  /** Returns all dashboards of a project, by name. */
  list(project: ProjectScope): Promise<readonly Dashboard[]>;
  /** Throws INVALID_ARGUMENT for an id that is not a UUID, and NOT_FOUND. */
  get(project: ProjectScope, id: string): Promise<Dashboard>;
  /** Changes the given fields. Throws like `create` and `get`. */
  update(whose: Whose, fields: DashboardFields): Promise<Dashboard>;
  /** Throws like `get`. */
  delete(whose: Whose): Promise<void>;
};

export function createDashboards(options: ChangeParts): Dashboards {
  const { database } = options;
  return {
    create: (project, fields, actor) =>
      changeInside(options, { scope: project, actor }, async (sql) => {
        const { projectId } = project;
        const createdBy = describeActor(actor);
        const dashboard = toDashboard(fields, { id: createUuid(), createdBy });
        await store.dashboardRows.lock(sql, projectId);
        if ((await store.dashboardRows.count(sql, projectId)) >= dashboardsOfProjectMax) {
          refuse("name", `a project has at most ${dashboardsOfProjectMax} dashboards`);
        }
        const result = await put(sql, project, dashboard);
        const after = stateOf(dashboard);
        return { result, audit: { action: "dashboard.create", targetId: dashboard.id, after } };
      }),

    list: ({ projectId }) =>
      database
        .on("reads")
        .inTurn((sql) => store.listDashboards(sql, projectId), { owner: projectId }),

    get: (project, id) =>
      database.on("reads").inTurn((sql) => find(sql, project, id), { owner: project.projectId }),

    update: ({ project, id, actor }, fields) =>
      changeInside(options, { scope: project, actor }, async (sql) => {
        await store.dashboardRows.lock(sql, project.projectId);
        const before = await find(sql, project, id);
        const after = toDashboard(fields, before);
        const states = { before: stateOf(before), after: stateOf(after) };
        const audit = { action: "dashboard.update", targetId: id, ...states };
        return { result: isChange(audit) ? await put(sql, project, after) : before, audit };
      }),

    delete: ({ project, id, actor }) =>
      changeInside(options, { scope: project, actor }, async (sql) => {
        await store.dashboardRows.lock(sql, project.projectId);
        const before = stateOf(await find(sql, project, id));
        await store.deleteDashboard(sql, project.projectId, id);
        return { result: undefined, audit: { action: "dashboard.delete", targetId: id, before } };
      }),
  };
}

/** Stores a dashboard after it holds the charts that its tiles name. */
async function put(sql: Sql, project: ProjectScope, dashboard: NewDashboard): Promise<Dashboard> {
  const { projectId } = project;
  const ids = dashboard.tiles.map(({ chartId }) => chartId);
  const charts = await store.holdCharts(sql, projectId, ids);
  const at = ids.findIndex((id) => !charts.has(id.toLowerCase()));
  if (at >= 0) refuse(`layout.tiles[${at}].chart_id`, "names no chart of the project");
  await store.putDashboard(sql, projectId, dashboard);
  return find(sql, project, dashboard.id);
}

async function find(sql: Sql, { projectId }: ProjectScope, id: string): Promise<Dashboard> {
  const [dashboard] = isUuid(id) ? await store.listDashboards(sql, projectId, id) : [];
  if (!dashboard) throw new ServiceError("NOT_FOUND", "no such dashboard");
  return dashboard;
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
