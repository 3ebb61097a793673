// SQL of workspaces. The caller checks that the scopes above are active.

import type { PageOptions, Position } from "../../base/pages.ts";
import type { Sql } from "../../postgres/database.ts";
import { isAfter, selectCreatedAtUs } from "../../postgres/keyset.ts";

export type WorkspaceRow = Position & {
  readonly name: string;
  readonly description: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
  readonly dataplaneId: string;
};

export type NewWorkspaceRow = Pick<WorkspaceRow, "id" | "name" | "description" | "dataplaneId">;

export async function insertWorkspace(sql: Sql, row: NewWorkspaceRow): Promise<void> {
  await sql`
    insert into workspaces (workspace_id, dataplane_id, name, description)
    values (${row.id}, ${row.dataplaneId}, ${row.name}, ${row.description})`;
}

const columns = (sql: Sql) => sql`
  workspace_id as id,
  workspaces.name,
  workspaces.description,
  workspaces.created_at as "createdAt",
  ${selectCreatedAtUs(sql, "workspaces.created_at")},
  workspaces.updated_at as "updatedAt",
  org_id as "orgId",
  dataplane_id as "dataplaneId"`;

export async function findWorkspace(sql: Sql, id: string): Promise<WorkspaceRow | undefined> {
  const [row] = await sql<WorkspaceRow[]>`
    select ${columns(sql)}
    from workspaces
    join dataplanes using (dataplane_id)
    where workspace_id = ${id} and workspaces.archived_at is null`;
  return row;
}

/** Same as findWorkspace, and locks the row against other writers until the transaction ends. */
export async function lockWorkspace(sql: Sql, id: string): Promise<WorkspaceRow | undefined> {
  const [row] = await sql<WorkspaceRow[]>`
    select ${columns(sql)}
    from workspaces
    join dataplanes using (dataplane_id)
    where workspace_id = ${id} and workspaces.archived_at is null
    for no key update of workspaces`;
  return row;
}

export async function updateWorkspace(
  sql: Sql,
  { id, name, description }: Pick<WorkspaceRow, "id" | "name" | "description">,
): Promise<void> {
  await sql`
    update workspaces
    set name = ${name}, description = ${description}, updated_at = now()
    where workspace_id = ${id}`;
}

/** Returns the active workspaces of a data plane, oldest first, up to one more than the limit. */
export async function listWorkspaces(
  sql: Sql,
  dataplaneId: string,
  { limit, after }: PageOptions,
): Promise<WorkspaceRow[]> {
  return sql<WorkspaceRow[]>`
    select ${columns(sql)}
    from workspaces
    join dataplanes using (dataplane_id)
    where dataplane_id = ${dataplaneId}
      and workspaces.archived_at is null
      and ${isAfter(sql, ["workspaces.created_at", "workspace_id"], after)}
    order by workspaces.created_at, workspace_id
    limit ${limit + 1}`;
}
