// SQL of the log of access changes and of the servers that follow it. Called by changes.ts.

import type { Sql } from "../../postgres/database.ts";

/** Notifications only say that something is to be read, and save a server the wait for its poll. */
export const changesChannel = "waggle_access_changes";

/** Any constant of our own; held from a change's number until its commit. */
const appendLockKey = 4_917_203_688;

/**
 * Adds a change and returns its number. Numbers are given out under a lock that the transaction
 * keeps, so whoever has read one has read, or could have read, all below it.
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

/** What the log holds, in one snapshot. */
export type ChangesRow = {
  /** Number of the oldest change that is kept; null when there never was one. */
  readonly oldestId: number | null;
  readonly newestId: number | null;
  /** Subjects after the position asked for, the oldest first, cut at `limit`. */
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

/** Says that a server lives and how far it has read. */
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
 * Counts the servers seen in the last `memoryMs`, and those of them that have read a change. When
 * the change is older than that, or so old that it was swept, all of them have forgotten by age.
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

/** Deletes at most `limit` changes that every server has read or forgotten by age long ago. */
export async function deleteOldChanges(sql: Sql, ageMs: number, limit: number): Promise<void> {
  // The newest stays: it tells a server that was away whether it missed any.
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

/** Deletes at most `limit` servers that ended without a word. */
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
