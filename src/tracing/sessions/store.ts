// Sessions in Postgres: totals, trees, deletion. Every statement names its project.

import type { Sql } from "../../postgres/database.ts";
import { escapeJson, escapeText } from "../events/postgres-text.ts";
import { readBounded } from "../events/read-bounded.ts";
import type { Condition } from "../export/condition.ts";
import type { Position } from "../export/cursor.ts";
import { type ColumnSql, conditionsSql, eventColumnSql } from "../export/filter-sql.ts";
import type { StoredEvent } from "../events/event.ts";
import {
  type EventFieldName,
  type SelectedEvent,
  type SelectedRow,
  selectedColumns,
  toSelectedEvent,
} from "../events/event-row.ts";
import { type Totals, totalNames } from "./totals.ts";

export type TotalsRow = Totals & {
  readonly project_id: string;
  readonly session_id: string;
  /** Microseconds; null while the session has no event but itself. */
  readonly first_start_us: number | null;
  readonly last_end_us: number | null;
};

/** An event of a tree without its payload; times are Unix milliseconds. */
export type SkeletonRow = Pick<
  StoredEvent,
  | "event_id"
  | "event_type"
  | "event_name"
  | "parent_id"
  | "children_ids"
  | "error"
  | "start_time"
  | "end_time"
  | "duration"
>;

/** Adds to the totals of sessions; rows come ordered by key, so that writers do not deadlock. */
export async function addToTotals(sql: Sql, rows: readonly TotalsRow[]): Promise<void> {
  await sql`
    insert into session_totals as held (
      project_id, session_id, num_events, num_model_events, num_errors, num_costs, num_feedback,
      prompt_tokens, completion_tokens, total_tokens, cost, first_start_us, last_end_us)
    select
      project_id, session_id, num_events, num_model_events, num_errors, num_costs, num_feedback,
      prompt_tokens, completion_tokens, total_tokens, cost, first_start_us, last_end_us
    from jsonb_to_recordset(${escapeJson(JSON.stringify(rows))}::text::jsonb) as incoming (
      project_id uuid, session_id text, num_events integer, num_model_events integer,
      num_errors integer, num_costs integer, num_feedback integer, prompt_tokens double precision,
      completion_tokens double precision, total_tokens double precision, cost double precision,
      first_start_us bigint, last_end_us bigint)
    on conflict (project_id, session_id) do update set
      num_events = held.num_events + excluded.num_events,
      num_model_events = held.num_model_events + excluded.num_model_events,
      num_errors = held.num_errors + excluded.num_errors,
      num_costs = held.num_costs + excluded.num_costs,
      num_feedback = held.num_feedback + excluded.num_feedback,
      prompt_tokens = held.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = held.completion_tokens + excluded.completion_tokens,
      total_tokens = held.total_tokens + excluded.total_tokens,
      cost = held.cost + excluded.cost,
      first_start_us = least(held.first_start_us, excluded.first_start_us),
      last_end_us = greatest(held.last_end_us, excluded.last_end_us)`;
}

/** Looks up a session's widest times again, after an event's times shrank. */
export async function recountTimes(sql: Sql, projectId: string, sessionId: string): Promise<void> {
  await sql`
    update session_totals set
      first_start_us = times.first_start_us,
      last_end_us = times.last_end_us
    from (
      select min(start_time_us) as first_start_us,
        max(coalesce(end_time_us, start_time_us)) as last_end_us
      from events
      where project_id = ${projectId} and session_id = ${escapeText(sessionId)}
        and event_type not in ('session', 'pending')
    ) as times
    where project_id = ${projectId} and session_id = ${escapeText(sessionId)}`;
}

/** Returns a session's totals, or undefined when nothing was counted yet. */
export async function findTotals(
  sql: Sql,
  projectId: string,
  sessionId: string,
): Promise<TotalsRow | undefined> {
  const [row] = await sql<TotalsRow[]>`
    select
      project_id, session_id, num_events, num_model_events, num_errors, num_costs, num_feedback,
      prompt_tokens, completion_tokens, total_tokens, cost, first_start_us, last_end_us
    from session_totals
    where project_id = ${projectId} and session_id = ${escapeText(sessionId)}`;
  return row;
}

/** Returns the events of a session, the session itself left out, by start time. */
export async function listSkeleton(
  sql: Sql,
  projectId: string,
  sessionId: string,
): Promise<SkeletonRow[]> {
  const rows = await sql<SelectedRow[]>`
    select ${selectedColumns(sql, skeletonFields)}
    from events as e
    where e.project_id = ${projectId} and e.session_id = ${escapeText(sessionId)}
      and e.event_type not in ('session', 'pending')
    order by e.start_time_us, e.event_id`;
  // The fields were all selected.
  return rows.map((row) => toSelectedEvent(row) as SkeletonRow);
}

const skeletonFields: ReadonlySet<EventFieldName> = new Set([
  "event_name",
  "parent_id",
  "children_ids",
  "error",
  "end_time",
  "duration",
]);

/** Deletes the events and the totals of a session; returns how many events there were. */
export async function deleteSession(
  sql: Sql,
  projectId: string,
  sessionId: string,
): Promise<number> {
  const id = escapeText(sessionId);
  // Locked in the order of every writer, so that a batch arriving meanwhile does not deadlock.
  await sql`
    with locked as materialized (
      select 1
      from events
      where project_id = ${projectId} and session_id = ${id} and event_type <> 'pending'
      order by event_id
      for update)
    select count(*) from locked`;
  const deleted = await sql`
    delete from events
    where project_id = ${projectId} and session_id = ${id} and event_type <> 'pending'`;
  await sql`
    delete from session_totals
    where project_id = ${projectId} and session_id = ${id}`;
  return deleted.count;
}

/** Returns the events of a session with their payloads, the session left out, by start time. */
export async function listEvents(
  sql: Sql,
  projectId: string,
  sessionId: string,
): Promise<SelectedEvent[]> {
  return readBounded(sql<SelectedRow[]>`
    select ${selectedColumns(sql, undefined)}
    from events as e
    where e.project_id = ${projectId} and e.session_id = ${escapeText(sessionId)}
      and e.event_type not in ('session', 'pending')
    order by e.start_time_us, e.event_id`);
}

/** Which sessions are wanted. Microseconds: `fromUs` is included, `toUs` is not. */
export type SessionQuery = {
  readonly conditions: readonly Condition[];
  readonly fromUs: number | undefined;
  readonly toUs: number | undefined;
  readonly after: Position | undefined;
  readonly limit: number;
};

export type ListedSession = { readonly event: SelectedEvent; readonly totals: TotalsRow };

/** Columns of a session that filters may name, beside those of its event. */
export const sessionColumnSql: ColumnSql = {
  ...eventColumnSql,
  ...Object.fromEntries(
    totalNames.map((name) => [name, (sql: Sql) => sql`coalesce(t.${sql(name)}, 0)`]),
  ),
  cost: (sql) => sql`case when t.num_costs > 0 then t.cost end`,
};

/** Returns sessions with their totals, newest first, at most `limit`. */
export async function listSessions(
  sql: Sql,
  projectId: string,
  { conditions, fromUs, toUs, after, limit }: SessionQuery,
): Promise<ListedSession[]> {
  const rows = await sql<(SelectedRow & TotalsRow)[]>`
    select ${selectedColumns(sql, undefined)}, t.*
    from events as e
    left join lateral (
      select num_events, num_model_events, num_errors, num_costs, num_feedback, prompt_tokens,
        completion_tokens, total_tokens, cost, first_start_us, last_end_us
      from session_totals
      where project_id = ${projectId} and session_totals.session_id = e.event_id
    ) as t on true
    where e.project_id = ${projectId} and e.event_type = 'session'
      ${fromUs === undefined ? sql`` : sql`and e.start_time_us >= ${fromUs}`}
      ${toUs === undefined ? sql`` : sql`and e.start_time_us < ${toUs}`}
      ${
        after === undefined
          ? sql``
          : sql`and (e.start_time_us, e.event_id)
              < (${after.startTimeUs}, ${escapeText(after.eventId)})`
      }
      ${conditionsSql(sql, conditions, sessionColumnSql)}
    order by e.start_time_us desc, e.event_id desc
    limit ${limit}`;
  return rows.map((row) => ({ event: toSelectedEvent(row), totals: row }));
}
