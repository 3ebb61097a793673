// Decides whether a caller may do something in a scope; the only place that does. Source:
// docs/spec.md, Authentication; docs/decisions.md, 33, 35.

import { anyCovers, findKeyCreation } from "./permissions.ts";
import type { KeyKind, KeyPrincipal, Principal } from "./principal.ts";
import { isWithin, type Scope } from "./scope.ts";

/** Requirements of a call on its caller. */
export type Demand = {
  readonly permission: string;
  /** Kinds of keys that the call accepts. */
  readonly keyKinds: ReadonlySet<KeyKind>;
};

/** Tells whether the call accepts callers of this kind. Needs no request body. */
export function isKindAllowed(principal: Principal, keyKinds: ReadonlySet<KeyKind>): boolean {
  return principal.kind === "user" || keyKinds.has(principal.kind);
}

/** Tells whether the caller may do in this scope what the call demands. */
export function isAllowed(principal: Principal, demand: Demand, scope: Scope): boolean {
  if (!isKindAllowed(principal, demand.keyKinds)) return false;
  if (isClassic(principal)) return isWithin(scope, "project", principal.root.id);
  return holds(principal, demand.permission, scope);
}

/**
 * Tells whether the caller's grants hold a permission, or a whole pattern, in a scope. Always false
 * for classic and ingestion keys, which have no grants to hand on.
 */
export function holds(principal: Principal, permission: string, scope: Scope): boolean {
  return (
    isWithinBounds(principal, permission) &&
    principal.grants.some(
      (grant) =>
        isWithin(scope, grant.level, grant.scopeId) && anyCovers(grant.permissions, permission),
    )
  );
}

/**
 * Checks the organization's policy, and the rule that only a key made by a person, for a whole
 * organization, may create keys. A pattern that includes a key-creating permission counts as one.
 */
function isWithinBounds(principal: Principal, permission: string): boolean {
  if (principal.kind === "user") return true;
  if (!anyCovers(principal.policy, permission)) return false;
  if (findKeyCreation(permission) === undefined) return true;
  return principal.mayCreateKeys && principal.root.level === "org";
}

function isClassic(principal: Principal): principal is KeyPrincipal {
  return (
    principal.kind === "project" ||
    principal.kind === "project_read_only" ||
    principal.kind === "ingestion"
  );
}
