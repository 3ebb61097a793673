// Projects: the scopes that events are logged to, ready as soon as they are created. Source:
// docs/spec.md, "Control plane", "Control-plane resources"; docs/decisions.md, 12, 28.

import type { Actor } from "../../base/actor.ts";
import type { Audit } from "../../access/audit/audit.ts";
import type { Members } from "../../access/members/members.ts";
import type { Principal } from "../../access/principal.ts";
import type { Scope } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import { createUuid } from "../../base/ids.ts";
import type { ProjectId } from "../../base/ids.ts";
import { toPage } from "../../base/pages.ts";
import type { Page, PageOptions } from "../../base/pages.ts";
import type { Database } from "../../postgres/database.ts";
import {
  assertChange,
  assertDescription,
  assertName,
  refuseTakenName,
} from "../../access/scope-names.ts";
import type { DescribedChange } from "../../access/scope-names.ts";
import type { Scopes } from "../scopes/scopes.ts";
import * as store from "./store.ts";
import type { ProjectRow } from "./store.ts";

export type Project = ProjectRow;

export type CreateProjectOptions = {
  readonly name: string;
  readonly description: string | undefined;
  /** E-mail of a member of the workspace who becomes administrator; undefined appoints none. */
  readonly creator: string | undefined;
};

export type Projects = {
  /**
   * Creates a project in a workspace.
   *
   * Fails with NAME_TAKEN, with INVALID_ARGUMENT naming the field, and with NOT_FOUND if the
   * workspace was archived meanwhile.
   */
  create(workspace: Scope, options: CreateProjectOptions, principal: Principal): Promise<Project>;
  /** Returns an active project. Fails with NOT_FOUND. */
  get(id: string): Promise<Project>;
  /** Returns a page of a workspace's active projects, oldest first. */
  list(workspaceId: string, page: PageOptions): Promise<Page<Project>>;
  /** Fails with NAME_TAKEN, NOT_FOUND, and INVALID_ARGUMENT if both fields are undefined. */
  update(id: string, change: DescribedChange, actor: Actor): Promise<Project>;
};

export type ProjectsOptions = {
  readonly database: Database;
  readonly scopes: Pick<Scopes, "hold">;
  readonly audit: Pick<Audit, "append">;
  readonly members: Pick<Members, "appointCreator">;
};

export function createProjects(options: ProjectsOptions): Projects {
  const { database, scopes, audit, members } = options;

  async function get(id: string): Promise<Project> {
    const row = await store.findProject(database.sql(), id);
    if (!row) throw new ServiceError("NOT_FOUND", "no active project");
    return row;
  }

  return {
    async create(workspace, { name, description, creator }, principal) {
      assertName(name);
      if (description !== undefined) assertDescription(description);
      return database.transaction(async (sql) => {
        const parent = await scopes.hold("workspace", workspace.id);
        const id = createUuid();
        const row = { id, name, description: description || null, workspaceId: parent.id };
        await refuseTakenName(store.insertProject(sql, row));
        const created: Scope = {
          ...parent,
          level: "project",
          id,
          name,
          projectId: id as ProjectId,
        };
        // Before the audit log: all code takes locks of people before the lock of the audit log.
        if (creator !== undefined) {
          const field = "project_creator";
          await members.appointCreator({ parent, created, email: creator, field, principal });
        }
        await audit.append({
          actor: principal.actor,
          scope: created,
          action: "project.create",
          target: { type: "project", id },
          after: stateOf(row),
        });
        return get(id);
      });
    },

    get,

    async list(workspaceId, page) {
      return toPage(await store.listProjects(database.sql(), workspaceId, page), page.limit);
    },

    async update(id, { name, description }, actor) {
      assertChange({ name, description });
      return database.transaction(async (sql) => {
        const scope = await scopes.hold("project", id);
        const before = await store.lockProject(sql, scope.id);
        if (!before) throw new ServiceError("NOT_FOUND", "no active project");
        const after = {
          id: scope.id,
          name: name ?? before.name,
          description: description === undefined ? before.description : description || null,
        };
        if (after.name === before.name && after.description === before.description) return before;
        await refuseTakenName(store.updateProject(sql, after));
        await audit.append({
          actor,
          scope,
          action: "project.update",
          target: { type: "project", id: scope.id },
          before: stateOf(before),
          after: stateOf(after),
        });
        return get(scope.id);
      });
    },
  };
}

function stateOf({ name, description }: Pick<Project, "name" | "description">) {
  return { name, description };
}
