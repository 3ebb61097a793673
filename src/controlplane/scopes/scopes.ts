// Finds active scopes by level and id. Called by the transport before every call that names a
// scope, and by services and activities that are handed an id.
// Source: docs/spec.md, "What the service does", 7; docs/decisions.md, 28.

import type { Scope, ScopeLevel, LevelInOrg } from "../../access/scope.ts";
import { systemScope, systemScopeId } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import { isUuid } from "../../base/ids.ts";
import type { Database } from "../../postgres/database.ts";
import * as store from "./store.ts";

export type Scopes = {
  /**
   * Returns a scope with everything above it; undefined when there is none, when it is archived, or
   * when something above it is. An id that is no UUID names nothing.
   */
  find(level: ScopeLevel, id: string): Promise<Scope | undefined>;
  /** Returns a scope whether it is archived or not; undefined when there never was one. */
  findAny(level: ScopeLevel, id: string): Promise<Scope | undefined>;
  /**
   * Returns a scope that stays active, with everything above it, until the ambient transaction
   * ends: what is put inside is there when it is archived. Waits for one that archives.
   *
   * Fails with NOT_FOUND where `find` returns undefined. Throws outside a transaction.
   */
  hold(level: ScopeLevel, id: string): Promise<Scope>;
  /**
   * Returns at most `limit` projects that are a scope or lie in it, archived or not, in order of
   * id, each with the cluster that holds its events.
   */
  listProjects(
    level: LevelInOrg,
    id: string,
    page: { readonly afterId?: string | undefined; readonly limit: number },
  ): Promise<readonly store.ProjectPlaceRow[]>;
};

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
