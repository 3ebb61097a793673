// SQL of the policies of API keys.

import type { Sql } from "../../postgres/database.ts";
import { lockRows } from "../../postgres/row-locks.ts";

export type PolicyRow = {
  readonly permissions: readonly string[];
  readonly updatedAt: Date;
  readonly updatedBy: string;
};

export async function findPolicy(sql: Sql, orgId: string): Promise<PolicyRow | undefined> {
  const [row] = await sql<PolicyRow[]>`
    select permissions, updated_at as "updatedAt", updated_by as "updatedBy"
    from api_key_policies
    where org_id = ${orgId}`;
  return row;
}

/** Waits until no other transaction replaces the organization's policy, and returns the policy. */
export async function lockPolicy(sql: Sql, orgId: string): Promise<PolicyRow | undefined> {
  await lockRows(sql, "api_key_policies", orgId);
  return findPolicy(sql, orgId);
}

export async function upsertPolicy(
  sql: Sql,
  orgId: string,
  { permissions, updatedBy }: Pick<PolicyRow, "permissions" | "updatedBy">,
): Promise<PolicyRow | undefined> {
  const [row] = await sql<PolicyRow[]>`
    insert into api_key_policies (org_id, permissions, updated_by)
    values (${orgId}, ${[...permissions]}, ${updatedBy})
    on conflict (org_id) do update
    set permissions = excluded.permissions,
      updated_by = excluded.updated_by,
      updated_at = now()
    returning permissions, updated_at as "updatedAt", updated_by as "updatedBy"`;
  return row;
}
