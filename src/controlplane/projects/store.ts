// SQL of the first project and of projects as named on the command line.

import type { ProjectId } from "../../base/ids.ts";
import type { Sql } from "../../postgres/database.ts";

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

/** Adds an organization with one data plane, one workspace and one project. */
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

/** Returns up to two active projects: the one with this id in text form, then those so named. */
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
    order by project_id::text = lower(${nameOrId}) desc, projects.created_at, project_id
    limit 2`;
}
