// What the fine-grained keys of an organization may carry. Read by keys.ts for each new key and,
// with the key itself, for each caller; changed by the handlers of ApiKeyService.
// Source: docs/spec.md, "API keys"; docs/decisions.md, 33.

import { ServiceError } from "../../base/errors.ts";
import { permissionPatternsMax } from "../../base/tenant-limits.ts";
import type { Scopes } from "../../controlplane/scopes/scopes.ts";
import type { Database } from "../../postgres/database.ts";
import type { Audit } from "../audit/audit.ts";
import { everything } from "../caller-memory.ts";
import type { AccessChanges } from "../changes/changes.ts";
import { findPatternFault } from "../permissions.ts";
import { describeActor } from "../principal.ts";
import type { Actor } from "../principal.ts";
import type { Scope } from "../scope.ts";
import * as store from "./store.ts";

export type KeyPolicy = {
  readonly permissions: readonly string[];
  /** Absent for the default. */
  readonly updatedAt?: Date;
  readonly updatedBy?: string;
};

export type KeyPolicies = {
  /** Returns the policy of an organization. */
  get(org: Scope): Promise<KeyPolicy>;
  /** Returns which permissions the policy of a scope's organization allows. */
  permissionsOf(scope: Scope): Promise<readonly string[]>;
  /**
   * Replaces the policy of an organization; keys that carry more keep what it leaves, at once.
   *
   * Fails with INVALID_ARGUMENT naming the permission that is none.
   */
  replace(org: Scope, permissions: readonly string[], actor: Actor): Promise<KeyPolicy>;
};

export type KeyPoliciesOptions = {
  readonly database: Database;
  readonly changes: Pick<AccessChanges, "append">;
  readonly audit: Pick<Audit, "append">;
  readonly scopes: Pick<Scopes, "hold">;
};

/** Where an organization has set no policy, its keys may carry everything. */
export const defaultPolicy: readonly string[] = ["*"];

export function createKeyPolicies(options: KeyPoliciesOptions): KeyPolicies {
  const { database, changes, audit, scopes } = options;

  async function get({ orgId }: Scope): Promise<KeyPolicy> {
    if (orgId === undefined) throw new Error("no organization has this policy");
    const row = await store.findPolicy(database.sql(), orgId);
    return row ?? { permissions: defaultPolicy };
  }

  return {
    get,

    permissionsOf: async (scope) => (await get(scope)).permissions,

    replace: (org, given, actor) =>
      database.transaction(async (sql) => {
        const permissions = [...new Set(given)];
        assertPatterns(permissions);
        const scope = await scopes.hold("org", org.id);
        const before = await store.lockPolicy(sql, scope.id);
        const updatedBy = describeActor(actor);
        const policy = await store.upsertPolicy(sql, scope.id, { permissions, updatedBy });
        if (!policy) throw new Error("an upsert returned no row");
        await audit.append({
          actor,
          scope,
          action: "api_key_policy.update",
          target: { type: "api_key_policy", id: scope.id },
          before: { permissions: before?.permissions ?? defaultPolicy },
          after: { permissions },
        });
        // Every key of the organization may have become narrower or wider.
        await changes.append(everything);
        return policy;
      }),
  };
}

const shownLengthMax = 128;

function cut(pattern: string): string {
  return pattern.length > shownLengthMax ? `${pattern.slice(0, shownLengthMax)}…` : pattern;
}

/** Throws INVALID_ARGUMENT when a pattern is no permission, naming it and what is wrong. */
export function assertPatterns(patterns: readonly string[]): void {
  if (patterns.length > permissionPatternsMax) {
    throw new ServiceError(
      "INVALID_ARGUMENT",
      `permissions: must be at most ${permissionPatternsMax}`,
    );
  }
  patterns.forEach((pattern, index) => {
    const fault = findPatternFault(pattern);
    if (fault === undefined) return;
    const where = `permissions[${index}]: ${JSON.stringify(cut(pattern))}`;
    throw new ServiceError("INVALID_ARGUMENT", `${where} ${fault}`);
  });
}
