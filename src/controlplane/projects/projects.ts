// Projects and the scopes above them: finding one, and making the first. Called by the command
// line and the first start. Source: docs/spec.md, Resources and fields.

import { createAudit } from "../../access/audit/audit.ts";
import type { Audit } from "../../access/audit/audit.ts";
import type { Actor } from "../../access/principal.ts";
import type { Scope } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import { createUuid } from "../../base/ids.ts";
import type { ProjectId } from "../../base/ids.ts";
import type { Database } from "../../postgres/database.ts";
import * as store from "./store.ts";
import type { ProjectRow } from "./store.ts";

export type Project = ProjectRow;

export type Projects = {
  /**
   * Returns the active project with this name or id.
   *
   * Fails with INVALID_ARGUMENT when several have the name.
   */
  find(nameOrId: string): Promise<Project | undefined>;
  /**
   * Makes the first organization, data plane, workspace and a project in them, and returns the
   * project; undefined when there is an organization already. Inside a transaction of the caller's
   * other processes wait until it ends.
   */
  createFirst(projectName: string): Promise<Project | undefined>;
};

/** Name of the scopes above the first project. */
const firstScopeName = "default";

const firstStart: Actor = { type: "system", id: "first-start", name: "first start" };

export function createProjects(
  database: Database,
  audit: Pick<Audit, "append"> = createAudit(database),
): Projects {
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
function scopesOf(project: Project): readonly Scope[] {
  const { orgId, dataplaneId, workspaceId, projectId, projectName } = project;
  return [
    { level: "org", id: orgId, name: firstScopeName },
    { level: "dataplane", id: dataplaneId, name: firstScopeName },
    { level: "workspace", id: workspaceId, name: firstScopeName },
    { level: "project", id: projectId, name: projectName },
  ];
}
