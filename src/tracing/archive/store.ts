// SQL that moves a project's events to the archive table. Every statement names its project.

import type { Sql } from "../../postgres/database.ts";

export type MoveStep = {
  /** Events with greater ids are moved; every id is greater than the empty text. */
  readonly after: string;
  readonly limit: number;
  readonly bytes: number;
};

/**
 * Moves at most `limit` events, waiting updates included, and stops at `bytes`. It is one
 * statement: a row is in one of the tables at any time, even after an interruption. Returns the
 * number of moved events and the last id; 0 only if there is none after `after`.
 */
export async function moveEvents(
  sql: Sql,
  projectId: string,
  { after, limit, bytes }: MoveStep,
): Promise<{ readonly moved: number; readonly last: string | null }> {
  // Locks in the order of every writer, so that a late write does not deadlock with it. The result
  // of a late write does not replace an event that is already in the archive. The array makes
  // Postgres look up each event by its key: a join sometimes reads all events of the project.
  const [row] = await sql<{ moved: number; last: string | null }[]>`
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
      returning
        project_id, event_id, session_id, event_type, event_name, source, parent_id,
        children_ids, error, start_time_us, end_time_us, duration_ms,
        config, inputs, outputs, metadata, metrics, feedback, user_properties, cost_estimate
    ),
    archived as (
      insert into archived_events (
        project_id, event_id, session_id, event_type, event_name, source, parent_id,
        children_ids, error, start_time_us, end_time_us, duration_ms,
        config, inputs, outputs, metadata, metrics, feedback, user_properties, cost_estimate)
      select
        project_id, event_id, session_id, event_type, event_name, source, parent_id,
        children_ids, error, start_time_us, end_time_us, duration_ms,
        config, inputs, outputs, metadata, metrics, feedback, user_properties, cost_estimate
      from moved
      on conflict (project_id, event_id) do nothing
    )
    select count(*)::integer as moved, max(event_id) as last from moved`;
  return row ?? { moved: 0, last: null };
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

/**
 * Returns how many of these projects have events, totals of sessions or fields. The order makes
 * Postgres look up each project by the primary keys, whatever its statistics say.
 */
export async function countUnfinished(sql: Sql, projectIds: readonly string[]): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count
    from unnest(${projectIds}::uuid[]) as given (project_id)
    left join lateral (
      select true as is_there
      from events
      where project_id = given.project_id
      order by event_id
      limit 1
    ) as event on true
    left join lateral (
      select true as is_there
      from session_totals
      where project_id = given.project_id
      order by session_id
      limit 1
    ) as total on true
    left join lateral (
      select true as is_there
      from event_fields
      where project_id = given.project_id
      order by event_type, field
      limit 1
    ) as field on true
    where event.is_there or total.is_there or field.is_there`;
  return row?.count ?? 0;
}

/** Counts the unmoved and the moved events of projects, up to one more than `max` each. */
export async function countSomeEvents(
  sql: Sql,
  projectIds: readonly string[],
  max: number,
): Promise<{ readonly left: number; readonly done: number }> {
  const count = (table: "events" | "archived_events") => sql`
    select count(*)::integer
    from (
      select 1
      from unnest(${projectIds}::uuid[]) as given (project_id)
      cross join lateral (
        select event_id
        from ${sql(table)}
        where project_id = given.project_id
        order by event_id
        limit ${max + 1}
      ) as event
      limit ${max + 1}
    ) as counted`;
  const [row] = await sql<{ left: number; done: number }[]>`
    select (${count("events")}) as left, (${count("archived_events")}) as done`;
  return row ?? { left: 0, done: 0 };
}

/** Deletes at most `limit` totals of sessions; returns the number of deleted rows. */
export async function deleteTotals(sql: Sql, projectId: string, limit: number): Promise<number> {
  const { count } = await sql`
    delete from session_totals
    where project_id = ${projectId} and session_id in (
      select session_id
      from session_totals
      where project_id = ${projectId}
      order by session_id
      limit ${limit}
    )`;
  return count;
}

/** Deletes at most `limit` marks of hours; returns the number of deleted rows. */
export async function deleteMarks(sql: Sql, projectId: string, limit: number): Promise<number> {
  const { count } = await sql`
    delete from chart_marks
    where project_id = ${projectId} and (hour, slot) in (
      select hour, slot
      from chart_marks
      where project_id = ${projectId}
      order by hour, slot
      limit ${limit}
    )`;
  return count;
}

/** Deletes at most `limit` fields of the catalogue; returns the number of deleted rows. */
export async function deleteFields(sql: Sql, projectId: string, limit: number): Promise<number> {
  const { count } = await sql`
    delete from event_fields
    where project_id = ${projectId} and (event_type, field) in (
      select event_type, field
      from event_fields
      where project_id = ${projectId}
      order by event_type, field
      limit ${limit}
    )`;
  return count;
}
