// Keys for tests, created as the command line creates them.

import { createLocalKeys, findOperator } from "../../src/commands/local-access.ts";
import type { CreatedKey } from "../../src/access/keys/keys.ts";
import type { NewKey } from "../../src/access/keys/new-key.ts";
import type { KeyKind } from "../../src/access/principal.ts";
import type { Scope } from "../../src/access/scope.ts";
import type { LocalProject } from "../../src/controlplane/projects/local-projects.ts";
import type { Database } from "../../src/postgres/database.ts";

/** Returns a test's project as a scope. */
export function scopeOfProject(project: LocalProject): Scope & { readonly level: "project" } {
  const { orgId, dataplaneId, workspaceId, projectId, projectName } = project;
  return {
    level: "project",
    id: projectId,
    name: projectName,
    orgId,
    dataplaneId,
    workspaceId,
    projectId,
    clusterId: "default",
  };
}

/** Returns the organization of a test's project as a scope. */
export function scopeOfOrg({ orgId }: LocalProject): Scope {
  return { level: "org", id: orgId, name: orgId, orgId };
}

/** Creates a key, by default a key of the project named after its kind. */
export function givenAKey(
  database: Database,
  project: LocalProject,
  options: Partial<NewKey> & { readonly kind: KeyKind },
): Promise<CreatedKey> {
  return createLocalKeys(database).create({
    root: scopeOfProject(project),
    name: options.kind,
    creator: findOperator(),
    ...options,
  });
}
