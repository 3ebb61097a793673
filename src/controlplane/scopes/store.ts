// SQL of scopes: each with the ones above it, if all of them are active. Called by scopes.ts.

import type { Scope, ScopeLevel } from "../../access/scope.ts";
import type { ProjectId } from "../../base/ids.ts";
import type { Sql } from "../../postgres/database.ts";

type Level = Exclude<ScopeLevel, "system">;

const finders: Readonly<Record<Level, (sql: Sql, id: string) => Promise<Scope | undefined>>> = {
  async org(sql, id) {
    const [row] = await sql<{ name: string }[]>`
      select name from organizations where org_id = ${id} and archived_at is null`;
    return row && { level: "org", id, name: row.name, orgId: id };
  },

  async dataplane(sql, id) {
    const [row] = await sql<{ name: string; orgId: string; clusterId: string }[]>`
      select dataplanes.name, org_id as "orgId", cluster_id as "clusterId"
      from dataplanes
      join organizations using (org_id)
      where dataplane_id = ${id}
        and dataplanes.archived_at is null
        and organizations.archived_at is null`;
    return row && { level: "dataplane", id, dataplaneId: id, ...row };
  },

  async workspace(sql, id) {
    const [row] = await sql<
      { name: string; orgId: string; dataplaneId: string; clusterId: string }[]
    >`
      select
        workspaces.name,
        org_id as "orgId",
        dataplane_id as "dataplaneId",
        cluster_id as "clusterId"
      from workspaces
      join dataplanes using (dataplane_id)
      join organizations using (org_id)
      where workspace_id = ${id}
        and workspaces.archived_at is null
        and dataplanes.archived_at is null
        and organizations.archived_at is null`;
    return row && { level: "workspace", id, workspaceId: id, ...row };
  },

  async project(sql, id) {
    const [row] = await sql<
      {
        name: string;
        orgId: string;
        dataplaneId: string;
        workspaceId: string;
        clusterId: string;
      }[]
    >`
      select
        projects.name,
        org_id as "orgId",
        dataplane_id as "dataplaneId",
        workspace_id as "workspaceId",
        cluster_id as "clusterId"
      from projects
      join workspaces using (workspace_id)
      join dataplanes using (dataplane_id)
      join organizations using (org_id)
      where project_id = ${id}
        and projects.archived_at is null
        and workspaces.archived_at is null
        and dataplanes.archived_at is null
        and organizations.archived_at is null`;
    return row && { level: "project", id, projectId: id as ProjectId, ...row };
  },
};

export function findScope(sql: Sql, level: Level, id: string): Promise<Scope | undefined> {
  return finders[level](sql, id);
}
