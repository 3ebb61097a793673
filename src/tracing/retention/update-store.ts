// SQL of retention on updates that wait for an event.

import type { Fragment, Sql } from "../../postgres/database.ts";
import type { RunRow } from "./store.ts";

/**
 * Deletes updates whose event never came, or was deleted before they came, and whose last one is
 * older than a time. Returns their number, at most `limit`.
 */
export async function deleteUpdates(
  sql: Sql,
  projectId: string,
  { beforeUs, limit }: { readonly beforeUs: number; readonly limit: number },
): Promise<number> {
  const isOld = sql`start_time_us > 0 and start_time_us < ${beforeUs}`;
  const { count } = await sql`
    with ${waitingSql(sql, projectId, isOld, limit)}
    delete from events
    using locked
    where events.project_id = ${projectId} and events.event_id = locked.event_id
      and events.event_type = 'pending'`;
  return count;
}

/** Gives updates of an older release, which have no time, that of now. */
export async function dateUpdates(sql: Sql, projectId: string, limit: number): Promise<void> {
  await sql`
    with ${waitingSql(sql, projectId, sql`start_time_us = 0`, limit)}
    update events
    set start_time_us = (extract(epoch from statement_timestamp()) * 1000000)::bigint
    from locked
    where events.project_id = ${projectId} and events.event_id = locked.event_id
      and events.event_type = 'pending'`;
}

/** Locks waiting updates as `locked`, except those that a writer has locked. */
function waitingSql(sql: Sql, projectId: string, isMeant: Fragment, limit: number): Fragment {
  return sql`
    found as materialized (
      select event_id
      from events
      where project_id = ${projectId} and event_type = 'pending' and ${isMeant}
      limit ${limit}
    ),
    locked as materialized (
      select event_id
      from events
      where project_id = ${projectId} and event_id in (select event_id from found)
        and event_type = 'pending' and ${isMeant}
      for update skip locked
    )`;
}

/** Adds deleted updates to the report of a run. */
export async function addUpdates(
  sql: Sql,
  { projectId, id }: Pick<RunRow, "projectId" | "id">,
  updates: number,
): Promise<void> {
  await sql`
    update retention_runs set updates = updates + ${updates}
    where project_id = ${projectId} and run_id = ${id}`;
}
