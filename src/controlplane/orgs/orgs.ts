// Organizations: the tenants. Source: docs/spec.md, "What the service does", 7; docs/decisions.md,
// 12, 13, 28.

import type { Actor } from "../../base/actor.ts";
import type { Audit } from "../../access/audit/audit.ts";
import { everything } from "../../access/caller-memory.ts";
import type { AccessChanges } from "../../access/changes/changes.ts";
import type { Members } from "../../access/members/members.ts";
import { anyCovers } from "../../access/permissions.ts";
import type { Grant, Principal } from "../../access/principal.ts";
import { systemScope } from "../../access/scope.ts";
import type { Scope, ScopeLevel } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import { createUuid } from "../../base/ids.ts";
import { toPage } from "../../base/pages.ts";
import type { Page, PageOptions } from "../../base/pages.ts";
import type { Database } from "../../postgres/database.ts";
import type { Dataplanes } from "../dataplanes/dataplanes.ts";
import { assertName, refuseTakenName } from "../../access/scope-names.ts";
import type { Scopes } from "../scopes/scopes.ts";
import * as store from "./store.ts";
import type { OrgRow, Reach } from "./store.ts";

export type Org = OrgRow;

export type CreateOrgOptions = {
  readonly name: string;
  /** E-mail of a user who becomes administrator; undefined appoints none. */
  readonly creator: string | undefined;
};

export type Orgs = {
  /**
   * Creates an organization, including its data plane if data planes are assigned automatically. A
   * key that creates one has there from then on the permissions that it has in its own. Fails with
   * NAME_TAKEN, and with INVALID_ARGUMENT naming the field.
   */
  create(options: CreateOrgOptions, principal: Principal): Promise<Org>;
  /** Returns an active organization. Fails with NOT_FOUND. */
  get(id: string): Promise<Org>;
  /**
   * Returns a page of the active organizations that the caller can see. For a key: its own and
   * those that it created. For a person: all, or the organizations that contain a scope of a grant.
   */
  list(principal: Principal, page: PageOptions): Promise<Page<Org>>;
  /** Fails with NAME_TAKEN, NOT_FOUND, and INVALID_ARGUMENT if the name is undefined or invalid. */
  rename(id: string, name: string | undefined, actor: Actor): Promise<Org>;
};

export type OrgsOptions = {
  readonly database: Database;
  readonly scopes: Pick<Scopes, "hold">;
  readonly audit: Pick<Audit, "append">;
  readonly changes: Pick<AccessChanges, "append">;
  readonly dataplanes: Pick<Dataplanes, "createFirst">;
  readonly members: Pick<Members, "appointCreator">;
};

const listPermission = "org.scope.list";

export function createOrgs(options: OrgsOptions): Orgs {
  const { database, scopes, audit, changes, dataplanes, members } = options;

  async function get(id: string): Promise<Org> {
    const row = await store.findOrg(database.sql(), id);
    if (!row) throw new ServiceError("NOT_FOUND", "no active organization");
    return row;
  }

  return {
    async create({ name, creator }, principal) {
      assertName(name);
      return database.transaction(async (sql) => {
        const id = createUuid();
        const { actor } = principal;
        const createdByKey = principal.kind === "user" ? null : actor.id;
        await refuseTakenName(store.insertOrg(sql, { id, name, createdByKey }));
        const created: Scope = { level: "org", id, name, orgId: id };
        const target = { type: "org", id };
        await audit.append({
          actor,
          scope: created,
          action: "org.create",
          target,
          after: { name },
        });
        await dataplanes.createFirst(created, principal);
        if (creator !== undefined) {
          const field = "org_creator";
          await members.appointCreator({
            parent: systemScope,
            created,
            email: creator,
            field,
            principal,
          });
        }
        // The cached grants of the key do not include the new organization yet.
        if (createdByKey !== null) await changes.append(everything);
        return get(id);
      });
    },

    get,

    async list(principal, page) {
      return toPage(await store.listOrgs(database.sql(), reachOf(principal), page), page.limit);
    },

    async rename(id, name, actor) {
      if (name === undefined) throw new ServiceError("INVALID_ARGUMENT", "name: is required");
      assertName(name);
      return database.transaction(async (sql) => {
        const scope = await scopes.hold("org", id);
        const before = await store.lockOrg(sql, scope.id);
        if (!before) throw new ServiceError("NOT_FOUND", "no active organization");
        if (before.name === name) return before;
        await refuseTakenName(store.renameOrg(sql, scope.id, name));
        await audit.append({
          actor,
          scope,
          action: "org.update",
          target: { type: "org", id: scope.id },
          before: { name: before.name },
          after: { name },
        });
        return get(scope.id);
      });
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
