// What somebody may do, by memberships and by groups of the identity provider. Called by
// people.ts, for sign-ins, and by members/members.ts. Source: docs/spec.md, Authentication, 6.

import type { Grant } from "../principal.ts";
import type { ScopeLevel } from "../scope.ts";
import type { Manifest } from "./manifest.ts";

/** A role that somebody has in a scope. */
export type RoleInScope = {
  readonly level: ScopeLevel;
  readonly scopeId: string;
  readonly role: string;
};

/**
 * Returns the grants of memberships and groups. A role that the manifest no longer has, or no
 * longer for that level, grants nothing.
 */
export function grantsOf(
  manifest: Manifest,
  memberships: readonly RoleInScope[],
  groups: readonly string[],
): readonly Grant[] {
  const named = new Set(groups);
  const ofGroups = manifest.groups.filter(({ group }) => named.has(group));
  return [...memberships, ...ofGroups].flatMap((one) => {
    const permissions = permissionsOf(manifest, one);
    return permissions.length === 0
      ? []
      : [{ level: one.level, scopeId: one.scopeId, permissions }];
  });
}

/** Returns what a role permits at a level; nothing when there is no such role for it. */
export function permissionsOf(
  manifest: Manifest,
  { role, level }: Pick<RoleInScope, "role" | "level">,
): readonly string[] {
  const known = manifest.roles.get(role);
  return known?.levels.includes(level) === true ? known.permissions : [];
}
