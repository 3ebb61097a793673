// SQL of scopes: lookups with the scopes above, the locks that keep them unchanged, and archiving.

import type { PendingQuery, Row } from "postgres";
import type { Scope, LevelInOrg } from "../../access/scope.ts";
import type { ProjectId } from "../../base/ids.ts";
import type { Sql } from "../../postgres/database.ts";

/** From the widest to the narrowest; each contains the next. */
const levels = [
  "org",
  "dataplane",
  "workspace",
  "project",
] as const satisfies readonly LevelInOrg[];

const tables: Readonly<Record<LevelInOrg, { readonly name: string; readonly id: string }>> = {
  org: { name: "organizations", id: "org_id" },
  dataplane: { name: "dataplanes", id: "dataplane_id" },
  workspace: { name: "workspaces", id: "workspace_id" },
  project: { name: "projects", id: "project_id" },
};

/**
 * Filter on scopes, and lock of their rows until the transaction ends. `active`: the scope and all
 * scopes above it are active. `held`: same, and none of them can be archived. `ending`: same, and
 * nothing can be created inside. `any`: archived scopes too, without a lock.
 */
export type Standing = "active" | "held" | "ending" | "any";

type Fragment = PendingQuery<Row[]>;

const finders: Readonly<
  Record<LevelInOrg, (sql: Sql, id: string, standing: Fragment) => Promise<Scope | undefined>>
> = {
  async org(sql, id, standing) {
    const [row] = await sql<{ name: string }[]>`
      select name from organizations where org_id = ${id} ${standing}`;
    return row && { level: "org", id, name: row.name, orgId: id };
  },

  async dataplane(sql, id, standing) {
    const [row] = await sql<{ name: string; orgId: string; clusterId: string }[]>`
      select dataplanes.name, org_id as "orgId", cluster_id as "clusterId"
      from dataplanes
      join organizations using (org_id)
      where dataplane_id = ${id} ${standing}`;
    return row && { level: "dataplane", id, dataplaneId: id, ...row };
  },

  async workspace(sql, id, standing) {
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
      where workspace_id = ${id} ${standing}`;
    return row && { level: "workspace", id, workspaceId: id, ...row };
  },

  async project(sql, id, standing) {
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
      where project_id = ${id} ${standing}`;
    return row && { level: "project", id, projectId: id as ProjectId, ...row };
  },
};

export function findScope(
  sql: Sql,
  level: LevelInOrg,
  id: string,
  standing: Standing,
): Promise<Scope | undefined> {
  return finders[level](sql, id, standingSql(sql, level, standing));
}

function standingSql(sql: Sql, level: LevelInOrg, standing: Standing): Fragment {
  if (standing === "any") return sql``;
  const own = tables[level].name;
  const above = levels.slice(0, levels.indexOf(level)).map((one) => tables[one].name);
  const active = [own, ...above].reduce(
    (all, table) => sql`${all} and ${sql(table)}.archived_at is null`,
    sql``,
  );
  switch (standing) {
    case "active":
      return active;
    case "held":
      // Waits for a running archiving, then rechecks whether the rows are still active.
      return sql`${active} for key share`;
    case "ending":
      return above.length === 0
        ? sql`${active} for update`
        : sql`${active} for key share of ${sql(above)} for update of ${sql(own)}`;
  }
}

function childLevelOf(level: LevelInOrg): LevelInOrg | undefined {
  return levels[levels.indexOf(level) + 1];
}

export async function countActiveChildren(
  sql: Sql,
  level: LevelInOrg,
  id: string,
): Promise<number> {
  const child = childLevelOf(level);
  if (!child) return 0;
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from ${sql(tables[child].name)}
    where ${sql(tables[level].id)} = ${id} and archived_at is null`;
  return row?.count ?? 0;
}

/** Archives a scope and returns the time; undefined if it was archived before or does not exist. */
export async function markArchived(
  sql: Sql,
  level: LevelInOrg,
  id: string,
): Promise<Date | undefined> {
  const { name, id: idColumn } = tables[level];
  const [row] = await sql<{ archivedAt: Date }[]>`
    update ${sql(name)} set archived_at = now()
    where ${sql(idColumn)} = ${id} and archived_at is null
    returning archived_at as "archivedAt"`;
  return row?.archivedAt;
}

export type Child = { readonly level: LevelInOrg; readonly id: string; readonly name: string };

/** Returns the direct children, archived ones included, ordered by id. */
export async function listChildren(
  sql: Sql,
  { level, id, afterId, limit }: { level: LevelInOrg; id: string; afterId: string; limit: number },
): Promise<Child[]> {
  const child = childLevelOf(level);
  if (!child) return [];
  const { name, id: idColumn } = tables[child];
  const rows = await sql<{ id: string; name: string }[]>`
    select ${sql(idColumn)} as id, name
    from ${sql(name)}
    where ${sql(tables[level].id)} = ${id} and ${sql(idColumn)} > ${afterId}
    order by ${sql(idColumn)}
    limit ${limit}`;
  return rows.map((row) => ({ level: child, ...row }));
}

/** A project and the cluster that holds its events. */
export type ProjectPlaceRow = { readonly projectId: string; readonly clusterId: string };

/** Returns the projects that are the scope or inside it, archived ones included, ordered by id. */
export async function listProjects(
  sql: Sql,
  { level, id, afterId, limit }: { level: LevelInOrg; id: string; afterId: string; limit: number },
): Promise<ProjectPlaceRow[]> {
  return sql<ProjectPlaceRow[]>`
    select project_id as "projectId", cluster_id as "clusterId"
    from projects
    join workspaces using (workspace_id)
    join dataplanes using (dataplane_id)
    where ${sql(tables[level].id)} = ${id} and project_id > ${afterId}
    order by project_id
    limit ${limit}`;
}
