// SQL of scopes of every level: lookups with the scopes above, locks, pages and archiving.

import { type LevelInOrg, levelsInOrg, type Scope } from "../../access/scope.ts";
import type { PageOptions, Position } from "../../base/pages.ts";
import type { Fragment, Sql } from "../../postgres/database.ts";
import { isAfter, selectCreatedAtUs } from "../../postgres/keyset.ts";
import { levelAbove, levelBelow, levels } from "./levels.ts";

/**
 * Filter on scopes, and lock of their rows until the transaction ends. `active`: the scope and all
 * scopes above it are active. `held`: same, and none of them can be archived. `ending`: same, and
 * nothing can be created inside. `any`: archived scopes too, without a lock.
 */
export type Standing = "active" | "held" | "ending" | "any";

/** A level's table, joined with the tables of the levels above. */
const sources: Readonly<Record<LevelInOrg, (sql: Sql) => Fragment>> = {
  org: (sql) => sql`organizations`,
  dataplane: (sql) => sql`dataplanes join organizations using (org_id)`,
  workspace: (sql) => sql`
    workspaces
    join dataplanes using (dataplane_id)
    join organizations using (org_id)`,
  project: (sql) => sql`
    projects
    join workspaces using (workspace_id)
    join dataplanes using (dataplane_id)
    join organizations using (org_id)`,
};

/** Ids from the organization down to the level, and the cluster. */
const ids: Readonly<Record<LevelInOrg, (sql: Sql) => Fragment>> = {
  org: (sql) => sql`org_id as "orgId"`,
  dataplane: (sql) => sql`
    org_id as "orgId",
    dataplane_id as "dataplaneId",
    cluster_id as "clusterId"`,
  workspace: (sql) => sql`
    org_id as "orgId",
    dataplane_id as "dataplaneId",
    workspace_id as "workspaceId",
    cluster_id as "clusterId"`,
  project: (sql) => sql`
    org_id as "orgId",
    dataplane_id as "dataplaneId",
    workspace_id as "workspaceId",
    project_id as "projectId",
    cluster_id as "clusterId"`,
};

export async function findScope(
  sql: Sql,
  level: LevelInOrg,
  id: string,
  standing: Standing,
): Promise<Scope | undefined> {
  const { table, id: idColumn } = levels[level];
  const [row] = await sql<Omit<Scope, "level" | "id">[]>`
    select ${sql(`${table}.name`)}, ${ids[level](sql)}
    from ${sources[level](sql)}
    where ${sql(idColumn)} = ${id} ${standingSql(sql, level, standing)}`;
  return row && { level, id, ...row };
}

function standingSql(sql: Sql, level: LevelInOrg, standing: Standing): Fragment {
  if (standing === "any") return sql``;
  const own = levels[level].table;
  const above = levelsInOrg.slice(0, levelsInOrg.indexOf(level)).map((one) => levels[one].table);
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

/** An active scope with its own fields. */
export type ScopeRow = Position & {
  readonly name: string;
  /** Null also at the levels without descriptions. */
  readonly description: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
  readonly dataplaneId?: string;
  readonly workspaceId?: string;
  readonly clusterId?: string;
};

function rowColumns(sql: Sql, level: LevelInOrg): Fragment {
  const { table, id, hasDescription } = levels[level];
  return sql`
    ${sql(id)} as id,
    ${sql(`${table}.name`)},
    ${hasDescription ? sql`${sql(table)}.description` : sql`null as description`},
    ${sql(`${table}.created_at`)} as "createdAt",
    ${selectCreatedAtUs(sql, `${table}.created_at`)},
    ${sql(`${table}.updated_at`)} as "updatedAt",
    ${ids[level](sql)}`;
}

/** Returns an active scope; with `lock`, other writers wait until the transaction ends. */
export async function findRow(
  sql: Sql,
  level: LevelInOrg,
  id: string,
  { lock }: { readonly lock: boolean },
): Promise<ScopeRow | undefined> {
  const { table, id: idColumn } = levels[level];
  const [row] = await sql<ScopeRow[]>`
    select ${rowColumns(sql, level)}
    from ${sources[level](sql)}
    where ${sql(idColumn)} = ${id} and ${sql(`${table}.archived_at`)} is null
    ${lock ? sql`for no key update of ${sql(table)}` : sql``}`;
  return row;
}

/** Columns that a new scope gives; the others have defaults. */
export type NewScopeColumns = {
  readonly name: string;
  readonly description?: string | null;
  readonly cluster_id?: string;
  /** Id of the key that creates an organization; null if a person creates it. */
  readonly created_by_key?: string | null;
};

export async function insertScope(
  sql: Sql,
  level: LevelInOrg,
  { id, parentId }: { readonly id: string; readonly parentId: string },
  columns: NewScopeColumns,
): Promise<void> {
  const above = levelAbove(level);
  const row = {
    [levels[level].id]: id,
    ...columns,
    ...(above && { [levels[above].id]: parentId }),
  };
  await sql`insert into ${sql(levels[level].table)} ${sql(row)}`;
}

export async function updateScope(
  sql: Sql,
  level: LevelInOrg,
  id: string,
  columns: Pick<NewScopeColumns, "name" | "description">,
): Promise<void> {
  const { table, id: idColumn } = levels[level];
  await sql`
    update ${sql(table)} set ${sql(columns)}, updated_at = now() where ${sql(idColumn)} = ${id}`;
}

/** Selected organizations: all, or each one that is or contains one of these active scopes. */
export type Reach = "all" | Readonly<Record<LevelInOrg, readonly string[]>>;

/**
 * Returns the active scopes inside a parent, or the organizations within a reach, oldest first, up
 * to one more than the limit.
 */
export async function listRows(
  sql: Sql,
  level: LevelInOrg,
  within: { readonly parentId: string } | { readonly reach: Reach },
  { limit, after }: PageOptions,
): Promise<ScopeRow[]> {
  const { table, id } = levels[level];
  const above = levelAbove(level);
  const isListed =
    "reach" in within
      ? reachSql(sql, within.reach)
      : sql`${sql(above ? levels[above].id : id)} = ${within.parentId}`;
  return sql<ScopeRow[]>`
    select ${rowColumns(sql, level)}
    from ${sources[level](sql)}
    where ${isListed}
      and ${sql(`${table}.archived_at`)} is null
      and ${isAfter(sql, [`${table}.created_at`, id], after)}
    order by ${sql(`${table}.created_at`)}, ${sql(id)}
    limit ${limit + 1}`;
}

/** Looks up each level by its own key: one join over the levels would read all existing scopes. */
function reachSql(sql: Sql, reach: Reach): Fragment {
  if (reach === "all") return sql`true`;
  const { org, dataplane, workspace, project } = reach;
  return sql`
    org_id in (
      select unnest(${org}::uuid[])
      union all
      select org_id
      from dataplanes
      where dataplane_id = any(${dataplane}::uuid[]) and archived_at is null
      union all
      select org_id
      from workspaces
      join dataplanes using (dataplane_id)
      where workspace_id = any(${workspace}::uuid[])
        and workspaces.archived_at is null
        and dataplanes.archived_at is null
      union all
      select org_id
      from projects
      join workspaces using (workspace_id)
      join dataplanes using (dataplane_id)
      where project_id = any(${project}::uuid[])
        and projects.archived_at is null
        and workspaces.archived_at is null
        and dataplanes.archived_at is null
    )`;
}

/** Returns at most two of the clusters of an organization's active data planes. */
export async function findClusters(sql: Sql, orgId: string): Promise<string[]> {
  const rows = await sql<{ clusterId: string }[]>`
    select distinct cluster_id as "clusterId"
    from dataplanes
    where org_id = ${orgId} and archived_at is null
    limit 2`;
  return rows.map(({ clusterId }) => clusterId);
}

export async function countActiveChildren(
  sql: Sql,
  level: LevelInOrg,
  id: string,
): Promise<number> {
  const child = levelBelow(level);
  if (!child) return 0;
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from ${sql(levels[child].table)}
    where ${sql(levels[level].id)} = ${id} and archived_at is null`;
  return row?.count ?? 0;
}

/** Archives a scope and returns the time; undefined if it was archived before or does not exist. */
export async function markArchived(
  sql: Sql,
  level: LevelInOrg,
  id: string,
): Promise<Date | undefined> {
  const { table, id: idColumn } = levels[level];
  const [row] = await sql<{ archivedAt: Date }[]>`
    update ${sql(table)} set archived_at = now()
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
  const child = levelBelow(level);
  if (!child) return [];
  const { table, id: idColumn } = levels[child];
  const rows = await sql<{ id: string; name: string }[]>`
    select ${sql(idColumn)} as id, name
    from ${sql(table)}
    where ${sql(levels[level].id)} = ${id} and ${sql(idColumn)} > ${afterId}
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
    where ${sql(levels[level].id)} = ${id} and project_id > ${afterId}
    order by project_id
    limit ${limit}`;
}
