// Permissions that the fine-grained keys of an organization may carry. Source: docs/spec.md, "API
// keys"; docs/decisions.md, 33.

import { type Actor, describeActor } from "../../base/actor.ts";
import { refuse } from "../../base/errors.ts";
import { permissionPatternsMax } from "../../base/tenant-limits.ts";
import { everything } from "../caller-memory.ts";
import { changeInside, type ChangeParts, isChange } from "../change.ts";
import { findPatternFault, overlaps } from "../permissions.ts";
import type { Scope } from "../scope.ts";
import * as store from "./store.ts";

export type KeyPolicy = {
  readonly permissions: readonly string[];
  /** Absent for the default policy. */
  readonly updatedAt?: Date;
  readonly updatedBy?: string;
};

export type KeyPolicies = {
  /** Returns the policy of an organization. */
  get(org: Scope): Promise<KeyPolicy>;
  /** Returns the permissions that the policy of a scope's organization allows. */
  permissionsOf(scope: Scope): Promise<readonly string[]>;
  /**
   * Replaces the policy of an organization. Keys with more permissions lose the excess at once.
   *
   * Fails with INVALID_ARGUMENT naming the invalid permission; also for one that is not among
   * `required`, those that calls require.
   */
  replace(
    org: Scope,
    given: { readonly permissions: readonly string[]; readonly required: readonly string[] },
    actor: Actor,
  ): Promise<KeyPolicy>;
};

/** Policy of an organization that has set none: its keys may carry every permission. */
export const defaultPolicy: readonly string[] = ["*"];

export function createKeyPolicies(options: ChangeParts): KeyPolicies {
  const { database } = options;

  async function get({ orgId }: Scope): Promise<KeyPolicy> {
    if (orgId === undefined) throw new Error("no organization has this policy");
    const row = await store.findPolicy(database.sql(), orgId);
    return row ?? { permissions: defaultPolicy };
  }

  return {
    get,

    permissionsOf: async (scope) => (await get(scope)).permissions,

    replace: (org, given, actor) =>
      changeInside(options, { scope: org, actor }, async (sql, scope) => {
        const permissions = [...new Set(given.permissions)];
        assertPatterns(permissions, given.required);
        const before = (await store.lockPolicy(sql, scope.id)) ?? { permissions: defaultPolicy };
        const audit = {
          action: "api_key_policy.update",
          targetId: scope.id,
          before: { permissions: before.permissions },
          after: { permissions },
        };
        if (!isChange(audit)) return { result: before };
        const updatedBy = describeActor(actor);
        const result = await store.upsertPolicy(sql, scope.id, { permissions, updatedBy });
        if (!result) throw new Error("an upsert returned no row");
        // Every key of the organization may have lost or gained permissions.
        return { result, audit, forget: everything };
      }),
  };
}

const shownLengthMax = 128;

function cut(pattern: string): string {
  return pattern.length > shownLengthMax ? `${pattern.slice(0, shownLengthMax)}…` : pattern;
}

/**
 * Throws INVALID_ARGUMENT, naming the pattern and its fault, if a pattern is invalid or includes
 * none of the permissions that calls require (any, if undefined), or if there are too many.
 */
export function assertPatterns(patterns: readonly string[], required?: readonly string[]): void {
  if (patterns.length > permissionPatternsMax) {
    refuse("permissions", `must be at most ${permissionPatternsMax}`);
  }
  patterns.forEach((pattern, index) => {
    const isUnused = required?.some((permission) => overlaps(pattern, permission)) === false;
    const unused = isUnused ? "is a permission that no call requires" : undefined;
    const fault = findPatternFault(pattern) ?? unused;
    if (fault === undefined) return;
    refuse(`permissions[${index}]`, `${JSON.stringify(cut(pattern))} ${fault}`);
  });
}
