// Projects by name or id, for commands that work on a database without serving requests.

import { isProject, type ProjectScope } from "../access/scope.ts";
import { explainRefusal, OperatorError } from "../base/operator-error.ts";
import { createLocalProjects } from "../controlplane/projects/local-projects.ts";
import { createScopes } from "../controlplane/scopes/scopes.ts";
import type { Database } from "../postgres/database.ts";

/** Returns an active project. Fails with OperatorError if none, or several, have the name. */
export async function getLocalProject(database: Database, nameOrId: string): Promise<ProjectScope> {
  const project = await createLocalProjects(database).find(nameOrId).catch(explainRefusal);
  const scope = project && (await createScopes(database).find("project", project.projectId));
  if (isProject(scope)) return scope;
  throw new OperatorError(`no active project ${nameOrId}; name one with --project`);
}
