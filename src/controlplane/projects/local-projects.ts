// Projects as the command line names them, and the first one with the scopes above it. Called by
// commands/keys.ts and commands/credentials.ts. Source: docs/spec.md, Resources and fields.

import { createAudit } from "../../access/audit/audit.ts";
import type { Actor } from "../../access/principal.ts";
import type { Scope } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import { createUuid } from "../../base/ids.ts";
import type { ProjectId } from "../../base/ids.ts";
import type { Database } from "../../postgres/database.ts";
import * as store from "./store.ts";
import type { LocalProjectRow } from "./store.ts";

export type LocalProject = LocalProjectRow;

export type LocalProjects = {
  /**
   * Returns the active project with this name or id.
   *
   * Fails with INVALID_ARGUMENT when several have the name.
   */
  find(nameOrId: string): Promise<LocalProject | undefined>;
  /**
   * Makes the first organization, data plane, workspace and a project in them, and returns the
   * project; undefined when there is an organization already. Inside a transaction of the caller's
   * other processes wait until it ends.
   */
  createFirst(projectName: string): Promise<LocalProject | undefined>;
};

/** Name of the scopes above the first project. */
const firstScopeName = "default";

/** Who makes what the first start makes. */
export const firstStart: Actor = { type: "system", id: "first-start", name: "first start" };

export function createLocalProjects(database: Database): LocalProjects {
  const audit = createAudit(database);
  return {
    async find(nameOrId) {
      const [project, other] = await store.findProjects(database.sql(), nameOrId);
      if (other) {
        throw new ServiceError("INVALID_ARGUMENT", `several projects are named ${nameOrId}`);
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

/** From the organization down. */
function scopesOf(project: LocalProject): readonly Scope[] {
  const { orgId, dataplaneId, workspaceId, projectId, projectName } = project;
  return [
    { level: "org", id: orgId, name: firstScopeName },
    { level: "dataplane", id: dataplaneId, name: firstScopeName },
    { level: "workspace", id: workspaceId, name: firstScopeName },
    { level: "project", id: projectId, name: projectName },
  ];
}
