// Finds active scopes by level and id. Called by the transport before every call that names a
// scope, and by services and activities that are handed an id.
// Source: docs/spec.md, "What the service does", 7; docs/decisions.md, 28.

import type { Scope, ScopeLevel } from "../../access/scope.ts";
import { systemScope } from "../../access/scope.ts";
import { isUuid } from "../../base/ids.ts";
import type { Database } from "../../postgres/database.ts";
import * as store from "./store.ts";

export type Scopes = {
  /**
   * Returns a scope with everything above it; undefined when there is none, when it is archived, or
   * when something above it is. An id that is no UUID names nothing.
   */
  find(level: ScopeLevel, id: string): Promise<Scope | undefined>;
};

export function createScopes(database: Database): Scopes {
  return {
    async find(level, id) {
      if (level === "system") return systemScope;
      if (!isUuid(id)) return undefined;
      return store.findScope(database.sql(), level, id.toLowerCase());
    },
  };
}
