// SQL of the columns that hold the owner of a row of credentials, aliases or prices.

import type { ProjectScope } from "../../../access/scope.ts";
import type { Fragment, Sql } from "../../../postgres/database.ts";
import { lockRows } from "../../../postgres/row-locks.ts";
import type { Owner, OwnerLevel } from "./owner.ts";

/** Column of the owner's id for each level; the other columns are null. */
const ownerColumns = {
  org: "org_id",
  workspace: "workspace_id",
  project: "project_id",
} as const satisfies Record<OwnerLevel, string>;

/** Selects `level` and `scopeId`. */
export function selectOwner(sql: Sql): Fragment {
  return sql`
    case
      when project_id is not null then 'project'
      when workspace_id is not null then 'workspace'
      else 'org'
    end as level,
    coalesce(project_id, workspace_id, org_id) as "scopeId"`;
}

/** Selects the rows of an owner. */
export function isOf(sql: Sql, { level, id }: Owner): Fragment {
  return sql`${sql(ownerColumns[level])} = ${id}`;
}

/** Selects the rows that a project may use. */
export function isUsableBy(sql: Sql, { projectId, workspaceId, orgId }: ProjectScope): Fragment {
  return sql`(project_id = ${projectId} or workspace_id = ${workspaceId} or org_id = ${orgId})`;
}

/** Returns the values of `org_id, workspace_id, project_id` for a new row. */
export function ownerValues(sql: Sql, { level, id }: Owner): Fragment {
  const idAt = (one: OwnerLevel) => (one === level ? id : null);
  return sql`${idAt("org")}, ${idAt("workspace")}, ${idAt("project")}`;
}

/** Waits until no other transaction changes the owner's rows, and returns their number. */
export async function lockCount(
  sql: Sql,
  table: "provider_credentials" | "model_aliases" | "model_prices",
  owner: Owner,
): Promise<number> {
  await lockRows(sql, table, owner.id);
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from ${sql(table)} where ${isOf(sql, owner)}`;
  return row?.count ?? 0;
}
