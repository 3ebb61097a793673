// SQL of organizations.

import type { LevelInOrg } from "../../access/scope.ts";
import type { PageOptions, Position } from "../../base/pages.ts";
import type { Sql } from "../../postgres/database.ts";
import { isAfter, selectCreatedAtUs } from "../../postgres/keyset.ts";

export type OrgRow = Position & {
  readonly name: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export type NewOrgRow = Pick<OrgRow, "id" | "name"> & {
  /** Id of the key that creates the organization; null if a person creates it. */
  readonly createdByKey: string | null;
};

export async function insertOrg(sql: Sql, { id, name, createdByKey }: NewOrgRow): Promise<void> {
  await sql`
    insert into organizations (org_id, name, created_by_key)
    values (${id}, ${name}, ${createdByKey})`;
}

const columns = (sql: Sql) => sql`
  org_id as id,
  name,
  created_at as "createdAt",
  ${selectCreatedAtUs(sql, "created_at")},
  updated_at as "updatedAt"`;

export async function findOrg(sql: Sql, id: string): Promise<OrgRow | undefined> {
  const [row] = await sql<OrgRow[]>`
    select ${columns(sql)} from organizations where org_id = ${id} and archived_at is null`;
  return row;
}

/** Same as findOrg, and locks the row against other writers until the transaction ends. */
export async function lockOrg(sql: Sql, id: string): Promise<OrgRow | undefined> {
  const [row] = await sql<OrgRow[]>`
    select ${columns(sql)} from organizations
    where org_id = ${id} and archived_at is null
    for no key update`;
  return row;
}

export async function renameOrg(sql: Sql, id: string, name: string): Promise<void> {
  await sql`update organizations set name = ${name}, updated_at = now() where org_id = ${id}`;
}

/** Selected organizations: all, or each one that is or contains one of these active scopes. */
export type Reach = "all" | Readonly<Record<LevelInOrg, readonly string[]>>;

/** Returns active organizations, oldest first, up to one more than the limit. */
export async function listOrgs(
  sql: Sql,
  reach: Reach,
  { limit, after }: PageOptions,
): Promise<OrgRow[]> {
  return sql<OrgRow[]>`
    select ${columns(sql)}
    from organizations
    where archived_at is null
      ${reach === "all" ? sql`` : reachSql(sql, reach)}
      and ${isAfter(sql, ["created_at", "org_id"], after)}
    order by created_at, org_id
    limit ${limit + 1}`;
}

/** Looks up each level by its own key: one join over the levels would read all existing scopes. */
function reachSql(sql: Sql, { org, dataplane, workspace, project }: Exclude<Reach, "all">) {
  return sql`
    and org_id in (
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
