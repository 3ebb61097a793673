// A separate project for a test, with the scopes above it.

import { createUuid } from "../../src/base/ids.ts";
import type { ProjectId } from "../../src/base/ids.ts";
import type { LocalProject } from "../../src/controlplane/projects/local-projects.ts";
import { insertScopes } from "../../src/controlplane/projects/store.ts";
import type { Database } from "../../src/postgres/database.ts";

/** Creates a project in a new organization, data plane and workspace. */
export async function givenAProject(
  database: Database,
  projectName = "demo",
): Promise<LocalProject> {
  const project = {
    orgId: createUuid(),
    dataplaneId: createUuid(),
    workspaceId: createUuid(),
    projectId: createUuid() as ProjectId,
    projectName,
  };
  await database.transaction((sql) => insertScopes(sql, project, project.orgId));
  return project;
}

/** Creates a project in the workspace of another. */
export async function givenASibling<T extends Pick<LocalProject, "workspaceId">>(
  database: Database,
  project: T,
) {
  const projectId = createUuid() as ProjectId;
  const sibling = { ...project, projectId, projectName: `sibling ${projectId}` };
  await database.sql()`
    insert into projects (project_id, workspace_id, name)
    values (${projectId}, ${project.workspaceId}, ${sibling.projectName})`;
  return sibling;
}

/** Creates organization, data plane, workspace and project, and returns the project's id. */
export async function createTestProject(database: Database): Promise<ProjectId> {
  return (await givenAProject(database)).projectId;
}
