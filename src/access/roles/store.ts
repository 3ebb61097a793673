// SQL of the manifest that was applied last, and of the people that a change affects.

import type { Sql } from "../../postgres/database.ts";
import type { GroupRole, Role } from "./manifest.ts";

export type AppliedManifestRow = {
  readonly roles: readonly Role[];
  readonly groups: readonly GroupRole[];
};

/** An arbitrary constant of our own; a server locks it while it compares and applies a manifest. */
const manifestLockKey = 7_246_330_144;

/** Waits until no other server applies a manifest, then returns the one applied last. */
export async function lockManifest(sql: Sql): Promise<AppliedManifestRow | undefined> {
  await sql`select pg_advisory_xact_lock(${manifestLockKey})`;
  const [row] = await sql<AppliedManifestRow[]>`
    select roles, groups from role_manifests where manifest_id = 1`;
  return row;
}

export async function upsertManifest(sql: Sql, row: AppliedManifestRow): Promise<void> {
  await sql`
    insert into role_manifests (manifest_id, roles, groups)
    values (1, ${JSON.stringify(row.roles)}::text::json, ${JSON.stringify(row.groups)}::text::json)
    on conflict (manifest_id) do update set
      roles = excluded.roles,
      groups = excluded.groups,
      applied_at = now()`;
}

export type TouchedOptions = {
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  /** Last id of the previous page; ids ascend. */
  readonly afterUserId: string;
  readonly limit: number;
};

/**
 * Locks, ordered by id, the people who have one of the roles or are signed in with one of the
 * groups, so that none of them can sign in before the transaction ends.
 */
export async function lockTouchedUsers(sql: Sql, options: TouchedOptions): Promise<string[]> {
  const { roles, groups, afterUserId, limit } = options;
  const rows = await sql<{ userId: string }[]>`
    select user_id as "userId"
    from users
    where user_id > ${afterUserId}
      and (
        exists (
          select 1 from memberships
          where memberships.user_id = users.user_id and role = any(${[...roles]})
        )
        or exists (
          select 1 from sign_in_sessions
          where sign_in_sessions.user_id = users.user_id and groups && ${[...groups]}::text[]
        )
      )
    order by user_id
    limit ${limit}
    for update of users`;
  return rows.map(({ userId }) => userId);
}

/** Counts memberships by role. */
export async function countByRole(
  sql: Sql,
): Promise<readonly { readonly role: string; readonly count: number }[]> {
  return sql<{ role: string; count: number }[]>`
    select role, count(*)::integer as count
    from memberships
    group by role
    order by role`;
}
