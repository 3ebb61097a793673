// SQL that moves a project's events to the archive table. Every statement names its project.

import type { Sql } from "../../postgres/database.ts";
import { deleteWhatEventsHad } from "../events/store.ts";

export type MoveStep = {
  /** Events with greater ids are moved; every id is greater than the empty text. */
  readonly after: string;
  readonly limit: number;
  readonly bytes: number;
};

/**
 * Moves at most `limit` events, waiting updates included, and stops at `bytes`. The caller's
 * transaction has a row in one of the tables at any time, even after an interruption. Returns the
 * number of moved events and the last id; 0 only if there is none after `after`.
 */
export async function moveEvents(
  sql: Sql,
  projectId: string,
  { after, limit, bytes }: MoveStep,
): Promise<{ readonly moved: number; readonly last: string | null }> {
  const columns = sql`
    project_id, event_id, session_id, event_type, event_name, source, parent_id, children_ids,
    error, start_time_us, end_time_us, duration_ms,
    config, inputs, outputs, metadata, metrics, feedback, user_properties, cost_estimate`;
  // Locks in the order of every writer, so that a late write does not deadlock with it. The result
  // of a late write does not replace an event that is already in the archive. The array makes
  // Postgres look up each event by its key: a join sometimes reads all events of the project.
  const [row] = await sql<{ ids: string[] | null; last: string | null }[]>`
    with locked as materialized (
      select
        event_id,
        pg_column_size(config) + pg_column_size(inputs) + pg_column_size(outputs)
          + pg_column_size(metadata) + pg_column_size(metrics) + pg_column_size(feedback)
          + pg_column_size(user_properties) as bytes
      from events
      where project_id = ${projectId} and event_id > ${after}
      order by event_id
      limit ${limit}
      for update
    ),
    summed as (
      select event_id, sum(bytes) over (order by event_id) - bytes as bytes_before
      from locked
    ),
    moved as (
      delete from events
      where project_id = ${projectId} and event_id = any(array(
        select event_id
        from summed
        where bytes_before < ${bytes}
      ))
      returning ${columns}
    ),
    archived as (
      insert into archived_events (${columns})
      select ${columns} from moved
      on conflict (project_id, event_id) do nothing
    )
    select array_agg(event_id) as ids, max(event_id) as last from moved`;
  const { ids, last } = row ?? { ids: null, last: null };
  if (ids === null) return { moved: 0, last };
  await deleteWhatEventsHad(sql, projectId, ids);
  return { moved: ids.length, last };
}

/** Well below the ten minutes of an activity (workflows/activity-options.ts). */
const countTimeout = "8min";

/**
 * Counts the unmoved and the moved events of projects, in the caller's transaction. Hundreds of
 * millions of events take minutes, and no caller waits for them.
 */
export async function countEvents(
  sql: Sql,
  projectIds: readonly string[],
): Promise<{ readonly left: number; readonly done: number }> {
  await sql`select set_config('statement_timeout', ${countTimeout}, true)`;
  const [row] = await sql<{ left: number; done: number }[]>`
    select
      (select count(*) from events where project_id = any(${projectIds}::uuid[])) as left,
      (select count(*) from archived_events where project_id = any(${projectIds}::uuid[])) as done`;
  return row ?? { left: 0, done: 0 };
}

/** Returns how many of these projects have events, totals of sessions or fields. */
export async function countUnfinished(sql: Sql, projectIds: readonly string[]): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count_unfinished(${projectIds}::uuid[]) as count`;
  return row?.count ?? 0;
}

/** Counts the unmoved and the moved events of projects, up to one more than `max` each. */
export async function countSomeEvents(
  sql: Sql,
  projectIds: readonly string[],
  max: number,
): Promise<{ readonly left: number; readonly done: number }> {
  const [row] = await sql<{ left: number; done: number }[]>`
    select unmoved as left, moved as done
    from count_some_events(${projectIds}::uuid[], ${max + 1})`;
  return row ?? { left: 0, done: 0 };
}

/** Tables of rows derived from events, and the columns of their keys beside the project. */
const derivedTables = [
  { table: "session_totals", key: (sql: Sql) => sql`session_id` },
  { table: "chart_marks", key: (sql: Sql) => sql`hour, slot` },
  { table: "event_fields", key: (sql: Sql) => sql`event_type, field` },
] as const;

/**
 * Deletes at most `limit` rows derived from events, all of one table; returns the number of deleted
 * rows, 0 if none was left.
 */
export async function deleteDerived(sql: Sql, projectId: string, limit: number): Promise<number> {
  for (const { table, key } of derivedTables) {
    const { count } = await sql`
      delete from ${sql(table)}
      where project_id = ${projectId} and (${key(sql)}) in (
        select ${key(sql)}
        from ${sql(table)}
        where project_id = ${projectId}
        order by ${key(sql)}
        limit ${limit}
      )`;
    if (count > 0) return count;
  }
  return 0;
}
