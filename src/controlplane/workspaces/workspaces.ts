// Workspaces: the parents of projects. Source: docs/spec.md, "Control plane", "Control-plane
// resources"; docs/decisions.md, 12, 28.

import type { Actor } from "../../base/actor.ts";
import type { Audit } from "../../access/audit/audit.ts";
import type { Members } from "../../access/members/members.ts";
import type { Principal } from "../../access/principal.ts";
import type { Scope } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import { createUuid } from "../../base/ids.ts";
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
import type { WorkspaceRow } from "./store.ts";

export type Workspace = WorkspaceRow;

export type CreateWorkspaceOptions = {
  readonly name: string;
  readonly description: string | undefined;
  /** E-mail of a member of the data plane who becomes administrator; undefined appoints none. */
  readonly creator: string | undefined;
};

export type Workspaces = {
  /**
   * Creates a workspace without projects in a data plane.
   *
   * Fails with NAME_TAKEN, with INVALID_ARGUMENT naming the field, and with NOT_FOUND if the data
   * plane was archived meanwhile.
   */
  create(
    dataplane: Scope,
    options: CreateWorkspaceOptions,
    principal: Principal,
  ): Promise<Workspace>;
  /** Returns an active workspace. Fails with NOT_FOUND. */
  get(id: string): Promise<Workspace>;
  /** Returns a page of a data plane's active workspaces, oldest first. */
  list(dataplaneId: string, page: PageOptions): Promise<Page<Workspace>>;
  /** Fails with NAME_TAKEN, NOT_FOUND, and INVALID_ARGUMENT if both fields are undefined. */
  update(id: string, change: DescribedChange, actor: Actor): Promise<Workspace>;
};

export type WorkspacesOptions = {
  readonly database: Database;
  readonly scopes: Pick<Scopes, "hold">;
  readonly audit: Pick<Audit, "append">;
  readonly members: Pick<Members, "appointCreator">;
};

export function createWorkspaces(options: WorkspacesOptions): Workspaces {
  const { database, scopes, audit, members } = options;

  async function get(id: string): Promise<Workspace> {
    const row = await store.findWorkspace(database.sql(), id);
    if (!row) throw new ServiceError("NOT_FOUND", "no active workspace");
    return row;
  }

  return {
    async create(dataplane, { name, description, creator }, principal) {
      assertName(name);
      if (description !== undefined) assertDescription(description);
      return database.transaction(async (sql) => {
        const parent = await scopes.hold("dataplane", dataplane.id);
        const id = createUuid();
        const row = { id, name, description: description || null, dataplaneId: parent.id };
        await refuseTakenName(store.insertWorkspace(sql, row));
        const created: Scope = { ...parent, level: "workspace", id, name, workspaceId: id };
        // Before the audit log: all code takes locks of people before the lock of the audit log.
        if (creator !== undefined) {
          const field = "workspace_creator";
          await members.appointCreator({ parent, created, email: creator, field, principal });
        }
        await audit.append({
          actor: principal.actor,
          scope: created,
          action: "workspace.create",
          target: { type: "workspace", id },
          after: stateOf(row),
        });
        return get(id);
      });
    },

    get,

    async list(dataplaneId, page) {
      return toPage(await store.listWorkspaces(database.sql(), dataplaneId, page), page.limit);
    },

    async update(id, { name, description }, actor) {
      assertChange({ name, description });
      return database.transaction(async (sql) => {
        const scope = await scopes.hold("workspace", id);
        const before = await store.lockWorkspace(sql, scope.id);
        if (!before) throw new ServiceError("NOT_FOUND", "no active workspace");
        const after = {
          id: scope.id,
          name: name ?? before.name,
          description: description === undefined ? before.description : description || null,
        };
        if (after.name === before.name && after.description === before.description) return before;
        await refuseTakenName(store.updateWorkspace(sql, after));
        await audit.append({
          actor,
          scope,
          action: "workspace.update",
          target: { type: "workspace", id: scope.id },
          before: stateOf(before),
          after: stateOf(after),
        });
        return get(scope.id);
      });
    },
  };
}

function stateOf({ name, description }: Pick<Workspace, "name" | "description">) {
  return { name, description };
}
