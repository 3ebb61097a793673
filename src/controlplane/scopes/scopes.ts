// Finds active scopes by level and id. Source: docs/spec.md, "What the service does", 7;
// docs/decisions.md, 28.

import type { LevelInOrg, ProjectScope, Scope, ScopeLevel } from "../../access/scope.ts";
import { isProject, systemScope, systemScopeId } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import { isUuid } from "../../base/ids.ts";
import type { Database } from "../../postgres/database.ts";
import * as store from "./store.ts";

export type Scopes = {
  /**
   * Returns a scope with the scopes above it; undefined if it does not exist, or if it or a scope
   * above it is archived. An id that is not a UUID matches nothing.
   */
  find(level: ScopeLevel, id: string): Promise<Scope | undefined>;
  /** Returns a scope, archived or not; undefined if it never existed. */
  findAny(level: ScopeLevel, id: string): Promise<Scope | undefined>;
  /**
   * Returns a scope with the scopes above it and keeps them active until the ambient transaction
   * ends, so that a later archiving sees everything created inside. Waits for a running archiving.
   *
   * Fails with NOT_FOUND if `find` would return undefined. Throws outside a transaction.
   */
  hold(level: ScopeLevel, id: string): Promise<Scope>;
  /**
   * Returns at most `limit` projects, each with the cluster of its events: the scope itself or the
   * projects inside it, archived ones included, ordered by id.
   */
  listProjects(
    level: LevelInOrg,
    id: string,
    page: { readonly afterId?: string | undefined; readonly limit: number },
  ): Promise<readonly store.ProjectPlaceRow[]>;
};

/** Returns an active project; undefined if `find` would return undefined. */
export async function findProject(
  scopes: Pick<Scopes, "find">,
  projectId: string,
): Promise<ProjectScope | undefined> {
  const scope = await scopes.find("project", projectId);
  return isProject(scope) ? scope : undefined;
}

export function createScopes(database: Database): Scopes {
  async function find(
    level: ScopeLevel,
    id: string,
    standing: store.Standing,
  ): Promise<Scope | undefined> {
    if (level === "system") return systemScope;
    if (!isUuid(id)) return undefined;
    return store.findScope(database.sql(), level, id.toLowerCase(), standing);
  }

  return {
    find: (level, id) => find(level, id, "active"),
    findAny: (level, id) => find(level, id, "any"),

    async hold(level, id) {
      if (!database.isInTransaction()) throw new Error("scopes.hold outside a transaction");
      const scope = await find(level, id, "held");
      if (!scope) throw new ServiceError("NOT_FOUND", `no active ${level}`);
      return scope;
    },

    listProjects: (level, id, { afterId = systemScopeId, limit }) =>
      store.listProjects(database.sql(), { level, id, afterId, limit }),
  };
}
