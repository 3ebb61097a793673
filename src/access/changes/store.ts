// SQL of the log of access changes and of the servers that follow it.

import type { Sql } from "../../postgres/database.ts";

/**
 * Notifications only signal that there is something to read; they save a server the wait for its
 * poll.
 */
export const changesChannel = "waggle_access_changes";

/** An arbitrary constant of our own; locked from a change's number until its commit. */
const appendLockKey = 4_917_203_688;

/**
 * Adds a change and returns its number. The transaction holds a lock from the number until its end,
 * so all changes with lower numbers are visible to a reader of this one.
 */
export async function insertChange(sql: Sql, subject: string): Promise<number> {
  await sql`select pg_advisory_xact_lock(${appendLockKey})`;
  const [row] = await sql<{ changeId: number }[]>`
    insert into access_changes (subject, changed_at) values (${subject}, clock_timestamp())
    returning change_id as "changeId"`;
  if (!row) throw new Error("an insert returned no row");
  await sql`select pg_notify(${changesChannel}, ${subject})`;
  return row.changeId;
}

/** Content of the log, in one snapshot. */
export type ChangesRow = {
  /** Number of the oldest kept change; null if there never was one. */
  readonly oldestId: number | null;
  readonly newestId: number | null;
  /** Subjects after the given position, oldest first, at most `limit`. */
  readonly subjects: readonly string[];
};

export async function readChanges(
  sql: Sql,
  position: number,
  limit: number,
): Promise<ChangesRow | undefined> {
  const [row] = await sql<ChangesRow[]>`
    with unread as (
      select change_id, subject
      from access_changes
      where change_id > ${position}
      order by change_id
      limit ${limit}
    )
    select
      (select min(change_id) from access_changes) as "oldestId",
      (select max(change_id) from access_changes) as "newestId",
      array(select subject from unread order by change_id) as subjects`;
  return row;
}

export type ServerRow = {
  readonly serverId: string;
  readonly name: string;
  readonly changeId: number;
};

/** Records that a server is alive and how far it has read. */
export async function upsertServer(sql: Sql, server: ServerRow): Promise<void> {
  await sql`
    insert into servers (server_id, name, change_id)
    values (${server.serverId}, ${server.name}, ${server.changeId})
    on conflict (server_id) do update
    set seen_at = now(), change_id = excluded.change_id`;
}

export async function deleteServer(sql: Sql, serverId: string): Promise<void> {
  await sql`delete from servers where server_id = ${serverId}`;
}

export type ConfirmationRow = { readonly live: number; readonly confirmed: number };

/**
 * Counts the servers seen in the last `memoryMs`, and how many of them have read a change. If the
 * change is older than that or was swept, all of them have forgotten by age.
 */
export async function countConfirmed(
  sql: Sql,
  changeId: number,
  memoryMs: number,
): Promise<ConfirmationRow | undefined> {
  const [row] = await sql<ConfirmationRow[]>`
    select
      count(*)::integer as live,
      (count(*) filter (
        where servers.change_id >= ${changeId}
          or not exists (
            select 1
            from access_changes
            where access_changes.change_id = ${changeId}
              and changed_at > now() - ${memoryMs} * interval '1 millisecond'
          )
      ))::integer as confirmed
    from servers
    where seen_at > now() - ${memoryMs} * interval '1 millisecond'`;
  return row;
}

/** Deletes at most `limit` changes so old that every server has read them or forgotten by age. */
export async function deleteOldChanges(sql: Sql, ageMs: number, limit: number): Promise<void> {
  // The newest change stays: it shows a server that was away whether it missed any.
  await sql`
    delete from access_changes
    where change_id in (
      select change_id
      from access_changes
      where changed_at < now() - ${ageMs} * interval '1 millisecond'
        and change_id < (select max(change_id) from access_changes)
      order by change_id
      limit ${limit}
      for update skip locked
    )`;
}

/** Deletes at most `limit` servers that ended without unregistering. */
export async function deleteDeadServers(sql: Sql, ageMs: number, limit: number): Promise<void> {
  await sql`
    delete from servers
    where server_id in (
      select server_id
      from servers
      where seen_at < now() - ${ageMs} * interval '1 millisecond'
      limit ${limit}
      for update skip locked
    )`;
}
