// The columns that say whose credentials or aliases a row is. Called by the stores of both.

import type { PendingQuery, Row } from "postgres";
import type { Sql } from "../../postgres/database.ts";
import type { Heirs, Owner, OwnerLevel } from "./owner.ts";

type Fragment = PendingQuery<Row[]>;

/** The column that holds the id of an owner of each level; the others are null. */
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

/** Rows of an owner. */
export function isOf(sql: Sql, { level, id }: Owner): Fragment {
  return sql`${sql(ownerColumns[level])} = ${id}`;
}

/** Rows that a project may use. */
export function isUsableBy(sql: Sql, { projectId, workspaceId, orgId }: Heirs): Fragment {
  return sql`(project_id = ${projectId} or workspace_id = ${workspaceId} or org_id = ${orgId})`;
}

/** Values of `org_id, workspace_id, project_id` of a new row. */
export function ownerValues(sql: Sql, { level, id }: Owner): Fragment {
  const idAt = (one: OwnerLevel) => (one === level ? id : null);
  return sql`${idAt("org")}, ${idAt("workspace")}, ${idAt("project")}`;
}
