// Organizations: the tenants. Source: docs/spec.md, "What the service does", 7; docs/decisions.md,
// 12, 13, 28.

import type { Actor } from "../../base/actor.ts";
import { everything } from "../../access/caller-memory.ts";
import { change } from "../../access/change.ts";
import { anyCovers } from "../../access/permissions.ts";
import type { Grant, Principal } from "../../access/principal.ts";
import { scopeInside, type ScopeLevel, systemScope } from "../../access/scope.ts";
import { assertScopeName } from "../../access/scope-names.ts";
import { refuse } from "../../base/errors.ts";
import { type Page, type PageOptions, toPage } from "../../base/pages.ts";
import type { Dataplanes } from "./dataplanes.ts";
import { levels } from "./levels.ts";
import { addScope, createScopeReads, updateScope } from "./scope-resource.ts";
import type { ScopeReads, ScopeResourceOptions, ScopeRow } from "./scope-resource.ts";
import * as store from "./store.ts";
import type { Reach } from "./store.ts";

export type CreateOrgOptions = {
  readonly name: string;
  /** E-mail of a user who becomes administrator; undefined appoints none. */
  readonly creator: string | undefined;
};

export type Orgs = Pick<ScopeReads, "get"> & {
  /**
   * Creates an organization, including its data plane if data planes are assigned automatically. A
   * key that creates one has there from then on the permissions that it has in its own. Fails with
   * NAME_TAKEN, and with INVALID_ARGUMENT naming the field.
   */
  create(options: CreateOrgOptions, principal: Principal): Promise<ScopeRow>;
  /**
   * Returns a page of the active organizations that the caller can see. A key sees its own and the
   * organizations that it created; a person sees all, or each that contains a scope of a grant.
   */
  list(principal: Principal, page: PageOptions): Promise<Page<ScopeRow>>;
  /** Fails with NAME_TAKEN, NOT_FOUND, and INVALID_ARGUMENT if the name is undefined or invalid. */
  rename(id: string, name: string | undefined, actor: Actor): Promise<ScopeRow>;
};

export type OrgsOptions = ScopeResourceOptions & {
  readonly dataplanes: Pick<Dataplanes, "createFirst">;
};

const listPermission = "org.scope.list";

export function createOrgs(options: OrgsOptions): Orgs {
  const { database, dataplanes, members } = options;
  const reads = createScopeReads(options, "org");

  return {
    async create({ name, creator: email }, principal) {
      assertScopeName(name);
      const { actor } = principal;
      const createdByKey = principal.kind === "user" ? null : actor.id;
      const columns = { name, created_by_key: createdByKey };
      const org = { level: "org", parent: systemScope, columns, creator: undefined } as const;
      const by = { scope: systemScope, actor };
      return change(options, by, async () => {
        // Begins the new audit chain; no other transaction waits for its lock.
        const result = await change(options, by, (sql) =>
          addScope(options, sql, { ...org, principal }),
        );
        const created = scopeInside(systemScope, { level: "org", id: result.id, name });
        await dataplanes.createFirst(created, principal);
        if (email !== undefined) {
          const field = levels.org.creatorField;
          await members.appointCreator({ parent: systemScope, created, email, field, principal });
        }
        // The cached grants of the key do not include the new organization yet.
        return { result, forget: createdByKey === null ? undefined : everything };
      });
    },

    get: (id) => reads.get(id),

    async list(principal, page) {
      const within = { reach: reachOf(principal) };
      const rows = await store.listRows(database.sql(), "org", within, page);
      return toPage("org", rows, page.limit);
    },

    async rename(id, name, actor) {
      if (name === undefined) refuse("name", "is required");
      assertScopeName(name);
      return updateScope(options, "org", { id, name, actor });
    },
  };
}

function reachOf(principal: Principal): Reach {
  const { grants } = principal;
  const at = (level: ScopeLevel) =>
    grants.filter((grant) => grant.level === level).map(({ scopeId }) => scopeId);
  if (principal.kind !== "user") {
    const own = idsOf(principal.root.orgId);
    return { org: [...own, ...at("org")], dataplane: [], workspace: [], project: [] };
  }
  if (grants.some(isOfAll)) return "all";
  return {
    org: at("org"),
    dataplane: at("dataplane"),
    workspace: at("workspace"),
    project: at("project"),
  };
}

function idsOf(orgId: string | undefined): readonly string[] {
  return orgId === undefined ? [] : [orgId];
}

function isOfAll({ level, permissions }: Grant): boolean {
  return level === "system" && anyCovers(permissions, listPermission);
}
