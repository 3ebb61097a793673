// Projects as named on the command line, and creation of the first project with the scopes above
// it. Source: docs/spec.md, Resources and fields.

import type { Actor } from "../../base/actor.ts";
import { createAudit } from "../../access/audit/audit.ts";
import type { Scope } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import { createUuid, type ProjectId } from "../../base/ids.ts";
import type { Database } from "../../postgres/database.ts";
import * as store from "./store.ts";
import type { LocalProjectRow } from "./store.ts";

export type LocalProject = LocalProjectRow;

export type LocalProjects = {
  /**
   * Returns the active project with this id or else name; undefined if there is none.
   *
   * Fails with INVALID_ARGUMENT if several projects have the name.
   */
  find(nameOrId: string): Promise<LocalProject | undefined>;
  /**
   * Creates the first organization, data plane, workspace and project, and returns the project;
   * undefined if an organization already exists. Other processes wait until the outermost
   * transaction ends.
   */
  createFirst(projectName: string): Promise<LocalProject | undefined>;
};

/** Name of the scopes above the first project. */
const firstScopeName = "default";

/** Actor of everything that the first start creates. */
export const firstStart: Actor = { type: "system", id: "first-start", name: "first start" };

export function createLocalProjects(database: Database): LocalProjects {
  const audit = createAudit(database);
  return {
    async find(nameOrId) {
      const [project, other] = await store.findProjects(database.sql(), nameOrId);
      if (other && project?.projectId !== nameOrId.toLowerCase()) {
        const fault = `several projects are named ${nameOrId}; name one by its id`;
        throw new ServiceError("INVALID_ARGUMENT", fault);
      }
      return project;
    },
    createFirst: (projectName) =>
      database.transaction(async (sql) => {
        if (await store.lockAndHasOrganization(sql)) return undefined;
        const project = {
          orgId: createUuid(),
          dataplaneId: createUuid(),
          workspaceId: createUuid(),
          projectId: createUuid() as ProjectId,
          projectName,
        };
        await store.insertScopes(sql, project, firstScopeName);
        for (const { level, id, name } of scopesOf(project)) {
          await audit.append({
            actor: firstStart,
            scope: { level, id, name, orgId: project.orgId },
            action: `${level}.create`,
            target: { type: level, id },
            after: { name },
          });
        }
        return project;
      }),
  };
}

/** Returns the scopes from the organization down. */
function scopesOf(project: LocalProject): readonly Scope[] {
  const { orgId, dataplaneId, workspaceId, projectId, projectName } = project;
  return [
    { level: "org", id: orgId, name: firstScopeName },
    { level: "dataplane", id: dataplaneId, name: firstScopeName },
    { level: "workspace", id: workspaceId, name: firstScopeName },
    { level: "project", id: projectId, name: projectName },
  ];
}
