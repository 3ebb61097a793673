// SQL of the outbox.

import type { Sql } from "../postgres/database.ts";
import type { OutboxEntry } from "./entry.ts";

export const outboxChannel = "waggle_outbox";

export type WaitingEntry = OutboxEntry & { readonly outboxId: number; readonly attempts: number };

/** Adds an entry, unless its workflow id already has one, and wakes the relays at the commit. */
export async function insertEntry(sql: Sql, entry: OutboxEntry): Promise<void> {
  await sql`
    insert into outbox (workflow_id, workflow_type, input, org_id, scope_id, actor)
    values (
      ${entry.workflowId}, ${entry.workflowType}, ${JSON.stringify(entry.input)}::text::json,
      ${entry.orgId}, ${entry.scopeId}, ${entry.actor}
    )
    on conflict (workflow_id) do nothing`;
  await sql`select pg_notify(${outboxChannel}, '')`;
}

/** Tells whether an entry has not been started. Started ones are deleted some time later. */
export async function isWaiting(sql: Sql, workflowId: string): Promise<boolean> {
  const [row] = await sql`
    select 1 from outbox where workflow_id = ${workflowId} and started_at is null`;
  return row !== undefined;
}

/**
 * Locks due entries until the transaction ends, the longest due first. Skips entries that another
 * relay has locked.
 */
export async function claimDue(sql: Sql, limit: number): Promise<WaitingEntry[]> {
  return sql<WaitingEntry[]>`
    select
      outbox_id as "outboxId",
      workflow_id as "workflowId",
      workflow_type as "workflowType",
      input,
      org_id as "orgId",
      scope_id as "scopeId",
      actor,
      attempts
    from outbox
    where started_at is null and due_at <= now()
    order by due_at, outbox_id
    limit ${limit}
    for update skip locked`;
}

export async function markStarted(sql: Sql, outboxIds: readonly number[]): Promise<void> {
  await sql`
    update outbox
    set started_at = now(), attempts = attempts + 1, last_error = null
    where outbox_id = any(${outboxIds}::bigint[])`;
}

/** Puts an entry off by `delayMs` and records the error. */
export async function markFailed(
  sql: Sql,
  { outboxId, error, delayMs }: { outboxId: number; error: string; delayMs: number },
): Promise<void> {
  await sql`
    update outbox
    set attempts = attempts + 1,
      last_error = ${error},
      due_at = now() + ${delayMs} * interval '1 millisecond'
    where outbox_id = ${outboxId}`;
}

/** Deletes entries that were started more than `ageMs` ago. Returns how many. */
export async function deleteStarted(sql: Sql, ageMs: number, limit: number): Promise<number> {
  const { count } = await sql`
    delete from outbox
    where outbox_id in (
      select outbox_id
      from outbox
      where started_at < now() - ${ageMs} * interval '1 millisecond'
      order by outbox_id
      limit ${limit}
      for update skip locked
    )`;
  return count;
}
