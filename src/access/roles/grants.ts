// Permissions of a person, from memberships and from groups of the identity provider. Source:
// docs/spec.md, Authentication, 6.

import type { Grant } from "../principal.ts";
import type { ScopeLevel } from "../scope.ts";
import type { Manifest } from "./manifest.ts";

/** A person's role in a scope. */
export type RoleInScope = {
  readonly level: ScopeLevel;
  readonly scopeId: string;
  readonly role: string;
};

/**
 * Returns the grants of memberships and groups. A role that the manifest does not have, or not for
 * that level, grants nothing.
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

/** Returns the permissions of a role at a level; empty if the role does not exist for it. */
export function permissionsOf(
  manifest: Manifest,
  { role, level }: Pick<RoleInScope, "role" | "level">,
): readonly string[] {
  const known = manifest.roles.get(role);
  return known?.levels.includes(level) === true ? known.permissions : [];
}
