// A project of its own for a test, with the scopes above it. Called by tests of stores and services.

import { createUuid, type ProjectId } from "../../src/base/ids.ts";
import type { Database } from "../../src/postgres/database.ts";

/** Makes organization, data plane, workspace and project, and returns the project's id. */
export async function createTestProject(database: Database): Promise<ProjectId> {
  const [org, dataplane, workspace, project] = [1, 2, 3, 4].map(() => createUuid());
  const sql = database.sql();
  await sql`insert into organizations (org_id, name) values (${org ?? ""}, 'org')`;
  await sql`
    insert into dataplanes (dataplane_id, org_id, name)
    values (${dataplane ?? ""}, ${org ?? ""}, 'dataplane')`;
  await sql`
    insert into workspaces (workspace_id, dataplane_id, name)
    values (${workspace ?? ""}, ${dataplane ?? ""}, 'workspace')`;
  await sql`
    insert into projects (project_id, workspace_id, name)
    values (${project ?? ""}, ${workspace ?? ""}, 'project')`;
  return project as ProjectId;
}
