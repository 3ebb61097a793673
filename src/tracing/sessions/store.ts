// Sessions in Postgres: totals, trees, deletion. Every statement names its project.

import type { Sql } from "../../postgres/database.ts";
import { escapeJson, escapeText, unescapeText } from "../events/postgres-text.ts";
import type { EventType } from "../events/event.ts";
import type { Totals } from "./totals.ts";

export type TotalsRow = Totals & {
  readonly project_id: string;
  readonly session_id: string;
  /** Microseconds; null while the session has no event but itself. */
  readonly first_start_us: number | null;
  readonly last_end_us: number | null;
};

/** An event of a tree without its payload. */
export type SkeletonRow = {
  readonly event_id: string;
  readonly event_type: EventType;
  readonly event_name: string;
  readonly parent_id: string | null;
  readonly children_ids: readonly string[];
  readonly error: string | null;
  readonly start_time_us: number;
  readonly end_time_us: number | null;
  readonly duration_ms: number | null;
};

/** Adds to the totals of sessions; the rows come ordered by key, so that writers do not deadlock. */
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
  const rows = await sql<SkeletonRow[]>`
    select
      event_id, event_type, event_name, parent_id, children_ids, error,
      start_time_us, end_time_us, duration_ms
    from events
    where project_id = ${projectId} and session_id = ${escapeText(sessionId)}
      and event_type not in ('session', 'pending')
    order by start_time_us, event_id`;
  return rows.map((row) => ({
    ...row,
    event_id: unescapeText(row.event_id),
    event_name: unescapeText(row.event_name),
    parent_id: row.parent_id === null ? null : unescapeText(row.parent_id),
    children_ids: row.children_ids.map(unescapeText),
    error: row.error === null ? null : unescapeText(row.error),
  }));
}

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
