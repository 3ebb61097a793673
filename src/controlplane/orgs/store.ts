// SQL of organizations. Called by orgs.ts.

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
  /** Id of the key that makes it; null when a person does. */
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

/** The same, and no other writer changes it until the transaction ends. */
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

/** Which organizations are meant: all, or those that any of these scopes, if active, lie in. */
export type Reach = "all" | Readonly<Record<LevelInOrg, readonly string[]>>;

/** Returns active organizations, the oldest first, and one more than the limit. */
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

/** Each level by its own key: with the levels in one join, all scopes there are would be read. */
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
