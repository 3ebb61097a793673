// Applies the manifest that a server starts with: people with a changed role or group must sign in
// again. Source: docs/spec.md, Authentication, 6.

import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../postgres/database.ts";
import type { Audit } from "../audit/audit.ts";
import { systemScope, systemScopeId } from "../scope.ts";
import { findUnusedPatterns, type GroupRole, type Manifest, type Role } from "./manifest.ts";
import * as store from "./store.ts";
import type { AppliedManifestRow } from "./store.ts";

export type ApplyManifestOptions = {
  readonly database: Database;
  readonly audit: Pick<Audit, "append">;
  /** Ends the sign-ins of these people, in the ambient transaction. */
  readonly endSignIns: (userIds: readonly string[]) => Promise<void>;
  /** Every permission that a call of this release requires. */
  readonly permissions: readonly string[];
  readonly logger: Pick<Logger, "warn">;
};

const usersAtATime = 1_000;

/**
 * Compares the manifest with the one applied last, ends the sign-ins of people affected by the
 * difference, and stores it. Idempotent. Warns of patterns that permit nothing, and of memberships
 * whose role is missing, which permit nothing either.
 */
export async function applyManifest(
  manifest: Manifest,
  options: ApplyManifestOptions,
): Promise<void> {
  const { database, logger } = options;
  for (const { pattern, line } of findUnusedPatterns(manifest, options.permissions)) {
    logger.warn(
      { file: manifest.source, line, pattern },
      "the roles manifest has a permission that no call of this release requires",
    );
  }
  await database.transaction(() => applyOnce(manifest, options));
  const counts = await store.countByRole(database.sql());
  for (const { role, count } of counts.filter((one) => !manifest.roles.has(one.role))) {
    logger.warn(
      { file: manifest.source, role, memberships: count },
      "memberships name a role that the roles manifest does not have; they permit nothing",
    );
  }
}

async function applyOnce(manifest: Manifest, options: ApplyManifestOptions): Promise<void> {
  const sql = options.database.sql();
  const after = { roles: [...manifest.roles.values()], groups: manifest.groups };
  const before = await store.lockManifest(sql);
  const roles = changedKeys(rolesByName(before), rolesByName(after));
  const groups = changedKeys(groupsByName(before), groupsByName(after));
  if (before && roles.length === 0 && groups.length === 0) {
    // Titles may have changed, which affects no sign-in.
    await store.upsertManifest(sql, after);
    return;
  }
  // A role also reaches people through their groups, even if the groups' mapping is unchanged.
  const ofRoles = [...(before?.groups ?? []), ...after.groups]
    .filter(({ role }) => roles.includes(role))
    .map(({ group }) => group);
  const touched = { roles, groups: [...new Set([...groups, ...ofRoles])] };
  const userIds = await lockTouched(options, touched);
  await store.upsertManifest(sql, after);
  const isChanged = changeFilter(roles, groups);
  await options.audit.append({
    actor: { type: "system", id: "roles-manifest", name: "roles manifest" },
    scope: systemScope,
    action: "roles_manifest.update",
    target: { type: "roles_manifest", id: systemScopeId },
    ...(before && { before: isChanged(before) }),
    after: isChanged(after),
  });
  await options.endSignIns(userIds);
}

async function lockTouched(
  { database }: ApplyManifestOptions,
  changed: { readonly roles: readonly string[]; readonly groups: readonly string[] },
): Promise<readonly string[]> {
  const userIds: string[] = [];
  for (;;) {
    const afterUserId = userIds.at(-1) ?? systemScopeId;
    const page = { ...changed, afterUserId, limit: usersAtATime };
    const found = await store.lockTouchedUsers(database.sql(), page);
    userIds.push(...found);
    if (found.length < usersAtATime) return userIds;
  }
}

/** Returns by name a comparable text of the role's levels and permissions, without its title. */
function rolesByName(row: AppliedManifestRow | undefined): ReadonlyMap<string, string> {
  const entries = (row?.roles ?? []).map(({ name, levels, permissions }) => {
    const text = JSON.stringify([levels.toSorted(), permissions.toSorted()]);
    return [name, text] as const;
  });
  return new Map(entries);
}

function groupsByName(row: AppliedManifestRow | undefined): ReadonlyMap<string, string> {
  const byName = Map.groupBy(row?.groups ?? [], ({ group }) => group);
  return new Map(
    [...byName].map(([group, roles]) => [group, JSON.stringify(roles.map(toText).toSorted())]),
  );
}

function toText({ role, level, scopeId }: GroupRole): string {
  return `${role} ${level} ${scopeId}`;
}

function changedKeys(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].filter((key) => before.get(key) !== after.get(key));
}

/** Returns a function that selects the changed part of a manifest, for the audit log. */
function changeFilter(
  roles: readonly string[],
  groups: readonly string[],
): (row: AppliedManifestRow) => { roles: readonly Role[]; groups: readonly GroupRole[] } {
  return (row) => ({
    roles: row.roles.filter(({ name }) => roles.includes(name)),
    groups: row.groups.filter(({ group }) => groups.includes(group)),
  });
}
