// SQL of the audit log and of the ends of its chains. Called by audit.ts and verify.ts.

import type { Sql } from "../../postgres/database.ts";
import type { AuditColumns } from "./chain.ts";

export type AuditRow = AuditColumns & { readonly previousHash: Buffer; readonly hash: Buffer };

export type Head = { readonly sequence: number; readonly hash: Buffer };

/** Locks the end of a chain, which it makes where there is none, and reads the clock after that. */
export async function lockHead(
  sql: Sql,
  orgId: string,
  firstHash: Buffer,
): Promise<Head & { readonly at: string }> {
  const [head] = await sql<(Head & { at: string })[]>`
    insert into audit_heads (org_id, sequence, hash)
    values (${orgId}, 0, ${firstHash})
    on conflict (org_id) do update set sequence = audit_heads.sequence
    returning
      sequence,
      hash,
      to_char(
        clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at`;
  if (!head) throw new Error("an upsert returned no row");
  return head;
}

/** Adds a row and moves the end of its chain, which the caller has locked, to it. */
export async function insertRow(sql: Sql, row: AuditRow): Promise<void> {
  await sql`
    with head as (
      update audit_heads set sequence = ${row.sequence}, hash = ${row.hash}
      where org_id = ${row.orgId}
    )
    insert into audit_log (
      org_id, sequence, at, actor_type, actor_id, actor_name, action,
      scope_level, scope_id, target_type, target_id, before, after, previous_hash, hash)
    values (
      ${row.orgId}, ${row.sequence}, ${row.at}::text::timestamptz,
      ${row.actorType}, ${row.actorId}, ${row.actorName}, ${row.action},
      ${row.scopeLevel}, ${row.scopeId}, ${row.targetType}, ${row.targetId},
      ${row.before}::text::json, ${row.after}::text::json,
      ${row.previousHash}, ${row.hash}
    )`;
}
