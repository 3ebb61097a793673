// SQL of projects and the scopes above them.

import type { ProjectId } from "../../base/ids.ts";
import type { PageOptions, Position } from "../../base/pages.ts";
import type { Sql } from "../../postgres/database.ts";
import { isAfter, selectCreatedAtUs } from "../../postgres/keyset.ts";

export type LocalProjectRow = {
  readonly orgId: string;
  readonly dataplaneId: string;
  readonly workspaceId: string;
  readonly projectId: ProjectId;
  readonly projectName: string;
};

/**
 * An arbitrary constant of our own; a process holds this lock while it creates the first
 * organization.
 */
const firstOrganizationLockKey = 7_246_330_143;

/**
 * Waits until no other process is creating the first organization, then returns whether one exists.
 */
export async function lockAndHasOrganization(sql: Sql): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(${firstOrganizationLockKey})`;
  const rows = await sql`select 1 from organizations limit 1`;
  return rows.length > 0;
}

/** Adds an organization, a data plane in it, a workspace in that and a project in that. */
export async function insertScopes(sql: Sql, row: LocalProjectRow, name: string): Promise<void> {
  await sql`insert into organizations (org_id, name) values (${row.orgId}, ${name})`;
  await sql`
    insert into dataplanes (dataplane_id, org_id, name)
    values (${row.dataplaneId}, ${row.orgId}, ${name})`;
  await sql`
    insert into workspaces (workspace_id, dataplane_id, name)
    values (${row.workspaceId}, ${row.dataplaneId}, ${name})`;
  await sql`
    insert into projects (project_id, workspace_id, name)
    values (${row.projectId}, ${row.workspaceId}, ${row.projectName})`;
}

/** Returns up to two active projects with this name or with this id in text form, oldest first. */
export async function findProjects(sql: Sql, nameOrId: string): Promise<LocalProjectRow[]> {
  return sql<LocalProjectRow[]>`
    select
      org_id as "orgId",
      dataplane_id as "dataplaneId",
      workspace_id as "workspaceId",
      project_id as "projectId",
      projects.name as "projectName"
    from projects
    join workspaces using (workspace_id)
    join dataplanes using (dataplane_id)
    join organizations using (org_id)
    where (projects.name = ${nameOrId} or project_id::text = lower(${nameOrId}))
      and projects.archived_at is null
      and workspaces.archived_at is null
      and dataplanes.archived_at is null
      and organizations.archived_at is null
    order by projects.created_at, project_id
    limit 2`;
}

export type ProjectRow = Position & {
  readonly name: string;
  readonly description: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
  readonly workspaceId: string;
};

export async function insertProject(
  sql: Sql,
  row: Pick<ProjectRow, "id" | "name" | "description" | "workspaceId">,
): Promise<void> {
  await sql`
    insert into projects (project_id, workspace_id, name, description)
    values (${row.id}, ${row.workspaceId}, ${row.name}, ${row.description})`;
}

const columns = (sql: Sql) => sql`
  project_id as id,
  projects.name,
  projects.description,
  projects.created_at as "createdAt",
  ${selectCreatedAtUs(sql, "projects.created_at")},
  projects.updated_at as "updatedAt",
  org_id as "orgId",
  workspace_id as "workspaceId"`;

export async function findProject(sql: Sql, id: string): Promise<ProjectRow | undefined> {
  const [row] = await sql<ProjectRow[]>`
    select ${columns(sql)}
    from projects
    join workspaces using (workspace_id)
    join dataplanes using (dataplane_id)
    where project_id = ${id} and projects.archived_at is null`;
  return row;
}

/** Same as findProject, and locks the row against other writers until the transaction ends. */
export async function lockProject(sql: Sql, id: string): Promise<ProjectRow | undefined> {
  const [row] = await sql<ProjectRow[]>`
    select ${columns(sql)}
    from projects
    join workspaces using (workspace_id)
    join dataplanes using (dataplane_id)
    where project_id = ${id} and projects.archived_at is null
    for no key update of projects`;
  return row;
}

export async function updateProject(
  sql: Sql,
  { id, name, description }: Pick<ProjectRow, "id" | "name" | "description">,
): Promise<void> {
  await sql`
    update projects
    set name = ${name}, description = ${description}, updated_at = now()
    where project_id = ${id}`;
}

/** Returns the active projects of a workspace, oldest first, up to one more than the limit. */
export async function listProjects(
  sql: Sql,
  workspaceId: string,
  { limit, after }: PageOptions,
): Promise<ProjectRow[]> {
  return sql<ProjectRow[]>`
    select ${columns(sql)}
    from projects
    join workspaces using (workspace_id)
    join dataplanes using (dataplane_id)
    where workspace_id = ${workspaceId}
      and projects.archived_at is null
      and ${isAfter(sql, ["projects.created_at", "project_id"], after)}
    order by projects.created_at, project_id
    limit ${limit + 1}`;
}
