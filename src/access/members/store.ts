// SQL of memberships: roles of people in scopes.

import { isUuid } from "../../base/ids.ts";
import type { PageOptions, Position } from "../../base/pages.ts";
import type { Sql } from "../../postgres/database.ts";
import { isAfter, selectCreatedAtUs } from "../../postgres/keyset.ts";
import type { RoleInScope } from "../roles/grants.ts";
import type { Scope } from "../scope.ts";

export type MemberRow = RoleInScope & {
  readonly userId: string;
  readonly email: string;
  /**
   * Null until the person has signed in as a member, so that a tenant does not learn the name of a
   * person known only to other tenants.
   */
  readonly name: string | null;
  readonly createdAt: Date;
  readonly createdBy: string;
};

export type ListedMemberRow = MemberRow & Position;

type ScopeName = Pick<Scope, "level" | "id">;

function columns(sql: Sql) {
  return sql`
    memberships.user_id as "userId",
    users.email,
    case when users.last_sign_in_at >= memberships.created_at then users.name end as name,
    memberships.role,
    memberships.level,
    memberships.scope_id as "scopeId",
    memberships.created_at as "createdAt",
    memberships.created_by as "createdBy"`;
}

export type NewMembership = {
  readonly userId: string;
  readonly scope: ScopeName;
  readonly role: string;
  readonly createdBy: string;
};

/** Adds a membership. Returns false if the person already has a role in the scope. */
export async function insertMembership(sql: Sql, row: NewMembership): Promise<boolean> {
  const { userId, scope, role, createdBy } = row;
  const result = await sql`
    insert into memberships (user_id, level, scope_id, role, created_by)
    values (${userId}, ${scope.level}, ${scope.id}, ${role}, ${createdBy})
    on conflict do nothing`;
  return result.count > 0;
}

export async function findMember(
  sql: Sql,
  scope: ScopeName,
  userId: string,
): Promise<MemberRow | undefined> {
  const [row] = await sql<MemberRow[]>`
    select ${columns(sql)}
    from memberships
    join users using (user_id)
    where level = ${scope.level} and scope_id = ${scope.id} and user_id = ${userId}`;
  return row;
}

/**
 * Locks a person's membership in a scope and all memberships with any of the roles, in one order,
 * so that two concurrent changes do not deadlock. Returns the ids of people with the roles.
 */
export async function lockMembersWithRole(
  sql: Sql,
  scope: ScopeName,
  { userId, roles }: { readonly userId: string; readonly roles: readonly string[] },
): Promise<readonly string[]> {
  const rows = await sql<{ userId: string; role: string }[]>`
    select user_id as "userId", role
    from memberships
    where level = ${scope.level}
      and scope_id = ${scope.id}
      and (user_id = ${userId} or role = any(${[...roles]}))
    order by user_id
    for update`;
  return rows.filter(({ role }) => roles.includes(role)).map((row) => row.userId);
}

export async function updateRole(
  sql: Sql,
  scope: ScopeName,
  userId: string,
  role: string,
): Promise<void> {
  await sql`
    update memberships set role = ${role}, updated_at = now()
    where level = ${scope.level} and scope_id = ${scope.id} and user_id = ${userId}`;
}

export async function deleteMembership(sql: Sql, scope: ScopeName, userId: string): Promise<void> {
  await sql`
    delete from memberships
    where level = ${scope.level} and scope_id = ${scope.id} and user_id = ${userId}`;
}

/** Returns the members of a page, oldest membership first, up to one more than the limit. */
export async function listMembers(
  sql: Sql,
  scope: ScopeName,
  { limit, after }: PageOptions,
): Promise<readonly ListedMemberRow[]> {
  return sql<ListedMemberRow[]>`
    select
      ${columns(sql)},
      memberships.user_id as id,
      ${selectCreatedAtUs(sql, "memberships.created_at")}
    from memberships
    join users using (user_id)
    where level = ${scope.level} and scope_id = ${scope.id}
      and ${isAfter(sql, ["memberships.created_at", "memberships.user_id"], after)}
    order by memberships.created_at, memberships.user_id
    limit ${limit + 1}`;
}

/**
 * Memberships with their scope's organization, and the earliest archiving of the scope or one
 * above.
 */
function membershipsWithScopes(sql: Sql) {
  return sql`
    select
      memberships.user_id,
      memberships.level,
      memberships.scope_id,
      memberships.role,
      organizations.org_id,
      least(
        projects.archived_at, workspaces.archived_at,
        dataplanes.archived_at, organizations.archived_at
      ) as archived_at
    from memberships
    left join projects
      on memberships.level = 'project' and projects.project_id = memberships.scope_id
    left join workspaces on workspaces.workspace_id
      = case memberships.level when 'workspace' then scope_id else projects.workspace_id end
    left join dataplanes on dataplanes.dataplane_id
      = case memberships.level when 'dataplane' then scope_id else workspaces.dataplane_id end
    left join organizations on organizations.org_id
      = case memberships.level when 'org' then scope_id else dataplanes.org_id end`;
}

/**
 * Returns every role of a person. Roles in archived scopes remain for the 24 hours in which the
 * archiving call's answer can be repeated (docs/decisions.md, 8.1).
 */
export async function listRolesOf(sql: Sql, userId: string): Promise<readonly RoleInScope[]> {
  return sql<RoleInScope[]>`
    select level, scope_id as "scopeId", role
    from (${membershipsWithScopes(sql)}) as placed
    where user_id = ${userId}
      and (archived_at is null or archived_at > now() - interval '24 hours')`;
}

/** Returns the number of a person's roles in active scopes of an organization. */
export async function countRolesInside(sql: Sql, userId: string, orgId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count
    from (${membershipsWithScopes(sql)}) as placed
    where user_id = ${userId} and org_id = ${orgId} and archived_at is null`;
  return row?.count ?? 0;
}

/** Returns those among these people who have a role in an active scope of an organization. */
export async function listInside(
  sql: Sql,
  orgId: string,
  userIds: readonly string[],
): Promise<readonly { readonly userId: string; readonly email: string }[]> {
  return sql<{ userId: string; email: string }[]>`
    select distinct user_id as "userId", email
    from (${membershipsWithScopes(sql)}) as placed
    join users using (user_id)
    where user_id = any(${userIds.filter(isUuid)}::uuid[]) and org_id = ${orgId}
      and archived_at is null`;
}

/** Tells whether a person has a role in one of the scopes. */
export async function hasMembership(
  sql: Sql,
  userId: string,
  scopes: readonly ScopeName[],
): Promise<boolean> {
  const rows = await sql`
    select 1
    from memberships
    where user_id = ${userId}
      and (level, scope_id) in (
        select * from unnest(
          ${scopes.map(({ level }) => level)}::text[],
          ${scopes.map(({ id }) => id)}::uuid[]
        )
      )
    limit 1`;
  return rows.length > 0;
}
