// Checks a new key: its name, its expiry, and the permissions that its creator and the
// organization's policy allow. Source: docs/spec.md, "API keys", Authentication, 4;
// docs/decisions.md, 33.

import type { Actor } from "../../base/actor.ts";
import { type Reason, ServiceError } from "../../base/errors.ts";
import { assertDescription, assertScopeName } from "../scope-names.ts";
import { holds } from "../authorize.ts";
import { assertPatterns } from "../key-policies/key-policies.ts";
import { anyCovers, findKeyCreation, listPowers } from "../permissions.ts";
import type { KeyKind, KeyPrincipal, Principal, UserPrincipal } from "../principal.ts";
import { type Scope, type ScopeLevel, scopeLevels } from "../scope.ts";

/**
 * Creator without an API call: the operator at the command line, or the service at its first start.
 */
export type LocalCreator = { readonly kind: "operator" | "system"; readonly actor: Actor };

export type Creator = Principal | LocalCreator;

export type NewKey = {
  readonly kind: KeyKind;
  /** An organization, workspace or project; a project for classic and ingestion keys. */
  readonly root: Scope;
  readonly name: string;
  readonly description?: string | undefined;
  /** Permissions of a fine-grained key, which needs at least one. */
  readonly permissions?: readonly string[];
  /** Expiry of a fine-grained key, which needs one. */
  readonly expiresAt?: Date | undefined;
  readonly creator: Creator;
  /** Every permission that a call requires; undefined to accept any name. */
  readonly required?: readonly string[];
};

/** Columns of a fine-grained key; null for classic and ingestion keys, whose kind decides both. */
export type FineGrained = {
  readonly permissions: readonly string[] | null;
  readonly expiresAt: Date | null;
};

/** End of the year 9999, the last time in Protobuf and in many clients' date types. */
const lastExpiryMs = Date.UTC(10_000, 0, 1) - 1;

/** Tells whether keys of a kind carry permissions and expire. */
export function isFineGrained(kind: KeyKind): boolean {
  return kind === "data_plane" || kind === "control_plane";
}

/**
 * Returns the permissions and expiry of a new key after checking all of its fields.
 *
 * Fails with INVALID_ARGUMENT, PERMISSION_NOT_ALLOWED or PERMISSION_NOT_HELD; the message names the
 * field and its fault.
 */
export function checkNewKey(key: NewKey, policy: readonly string[]): FineGrained {
  assertScopeName(key.name);
  if (key.description !== undefined) assertDescription(key.description);
  if (!isFineGrained(key.kind)) return { permissions: null, expiresAt: null };
  const permissions = [...new Set(key.permissions)];
  assertPatterns(permissions, key.required);
  if (permissions.length === 0) fail("INVALID_ARGUMENT", "permissions: must name at least one");
  permissions.forEach((pattern, index) => {
    assertMayCarry(`permissions[${index}]: ${pattern}`, pattern, key, policy);
  });
  return { permissions, expiresAt: checkExpiry(key.expiresAt) };
}

function assertMayCarry(
  where: string,
  pattern: string,
  { root, creator }: NewKey,
  policy: readonly string[],
): void {
  // Only an operator of the machine or the first start may grant permissions above every
  // organization.
  const isOfSystem = isLocal(creator) && root.level === "org" && pattern.startsWith("system.");
  if (!isOfSystem) assertLiesIn(where, pattern, root);
  // No person would read a refusal at the first start; the policy applies to every call anyway.
  if (creator.kind === "system") return;
  if (!anyCovers(policy, pattern)) {
    fail(
      "PERMISSION_NOT_ALLOWED",
      `${where} is not inside the organization's API key policy, which allows ` +
        (policy.length === 0 ? "none" : policy.join(", ")),
    );
  }
  if (isLocal(creator)) return;
  if (creator.kind === "user") assertPersonMayGive(where, pattern, { root, creator });
  else assertKeyMayGive(where, pattern, { root, creator });
}

/** Checks that a person grants only permissions that the person holds. */
function assertPersonMayGive(
  where: string,
  pattern: string,
  { root, creator }: { readonly root: Scope; readonly creator: UserPrincipal },
): void {
  if (holds(creator, pattern, root)) return;
  fail(
    "PERMISSION_NOT_HELD",
    `${where} is more than your own roles permit in this ${root.level}; ask for less, or have ` +
      "a member who holds it create the key",
  );
}

/**
 * Checks that a key grants only permissions that the policy allows. A power over the organization
 * itself, also one inside a wildcard, must be held by the key.
 */
function assertKeyMayGive(
  where: string,
  pattern: string,
  { root, creator }: { readonly root: Scope; readonly creator: KeyPrincipal },
): void {
  // A wildcard may include it: authorize.ts never allows it to a key created by a key.
  if (findKeyCreation(pattern) === pattern) {
    fail("PERMISSION_NOT_ALLOWED", `${where} creates keys; a key that is created by a key may not`);
  }
  const missing = listPowers(pattern).find((power) => !holds(creator, power, root));
  if (missing === undefined) return;
  const what = missing === pattern ? "is" : `includes ${missing},`;
  fail(
    "PERMISSION_NOT_HELD",
    `${where} ${what} a power over the organization that the calling key does not hold; name ` +
      "the permissions that the new key needs one by one, or have a member or key that holds " +
      `${missing} create it`,
  );
}

/** Refuses permissions above the root, such as `org.*` of a project's key. */
function assertLiesIn(where: string, pattern: string, root: Scope): void {
  const [level = ""] = pattern.split(".");
  if (level === "*") return;
  const depth = scopeLevels.indexOf(level as ScopeLevel);
  if (depth >= scopeLevels.indexOf(root.level)) return;
  fail("INVALID_ARGUMENT", `${where} is of level ${level}, which is above the key's ${root.level}`);
}

function checkExpiry(expiresAt: Date | undefined): Date {
  const ms = expiresAt?.getTime() ?? NaN;
  // False for NaN, an impossible date.
  if (expiresAt && ms > Date.now() && ms <= lastExpiryMs) return expiresAt;
  return fail(
    "INVALID_ARGUMENT",
    "expires_at: must be a time in the future, before the year 10000; " +
      "a number is Unix milliseconds",
  );
}

/** Tells whether the creator works on the machine itself and so holds every permission. */
export function isLocal(creator: Creator): creator is LocalCreator {
  return creator.kind === "operator" || creator.kind === "system";
}

function fail(reason: Reason, message: string): never {
  throw new ServiceError(reason, message);
}
