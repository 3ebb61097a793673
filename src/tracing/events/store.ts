// Events in Postgres. The caller decides the transaction; every statement names its project.

import type { JsonObject } from "../../base/json.ts";
import { idleWriteMsMax } from "../../base/limits.ts";
import type { Sql } from "../../postgres/database.ts";
import type { StoredEvent } from "./event.ts";
import { type ChangedRow, type HourKey, markChanged, markingOf } from "./mark-store.ts";
import { escapeJson, escapeText, unescapeText } from "./postgres-text.ts";

export type EventKey = { readonly project_id: string; readonly event_id: string };

/**
 * Makes Postgres plan the transaction's statements for any project instead of the current one. For
 * a project that is not in the statistics it expects one row, and reads all events of the project
 * for each key: 20,000 events of a new project took 14 s instead of 1 s.
 */
export async function planForAnyProject(sql: Sql): Promise<void> {
  await sql`select plan_for_any_project()`;
}

/**
 * Makes Postgres end the transaction if the process says nothing for `idleWriteMsMax`, since it
 * holds locks of sessions from now on.
 */
export async function endSoonIfIdle(sql: Sql): Promise<void> {
  const value = String(idleWriteMsMax);
  await sql`select set_config('idle_in_transaction_session_timeout', ${value}, true)`;
}

/** Type `unknown`, in which a parameter takes the type that its statement gives it. */
const unknownType = 705;

/**
 * Returns a JSON text as a parameter, for `::jsonb`. The driver would quote a text of that type
 * once more; as `::text::jsonb` Postgres copies it twice, which for the rows of a commit takes as
 * long as storing a tenth of them.
 */
function jsonParameter(sql: Sql, text: string) {
  return sql.typed(text, unknownType);
}

/** Inserts the absent rows of a statement and returns their keys. */
export async function insertRows(sql: Sql, rows: string): Promise<EventKey[]> {
  return sql<EventKey[]>`
    insert into events (
      project_id, event_id, session_id, event_type, event_name, source, parent_id, children_ids,
      error, start_time_us, end_time_us, duration_ms,
      config, inputs, outputs, metadata, metrics, feedback, user_properties, cost_estimate)
    select
      project_id, event_id, session_id, event_type, event_name, source, parent_id, children_ids,
      error, start_time_us, end_time_us, duration_ms,
      config, inputs, outputs, metadata, metrics, feedback, user_properties, cost_estimate
    from ${incomingRows(sql, rows)}
    order by project_id, event_id
    on conflict (project_id, event_id) do nothing
    returning project_id, event_id`;
}

/** The content of a commit of one statement, as JSON. */
export type CommitTexts = {
  readonly rows: string;
  /** Changes of totals. */
  readonly totals: string;
  /** Rows of the evaluation queue. */
  readonly queued: string;
  /** Hours to mark if they are past. */
  readonly hours: readonly HourKey[];
};

/** A session that events of a commit name, and that may exist. */
export type Stub = SessionTimes & { readonly event_name: string };

/**
 * Stores new events, the sessions they name, totals and rows of the evaluation queue in one
 * statement; `stubs` are those of `rows` that may exist. Fails with a retryable code if that is not
 * enough. `rows` are lists of cells. Source: migration 0037.
 */
export async function storeNewEvents(
  sql: Sql,
  { rows, totals, queued, hours }: CommitTexts,
  stubs: readonly Stub[],
): Promise<void> {
  await sql`
    select
      store_new_rows(
        ${jsonParameter(sql, rows)}::jsonb, ${escapeJson(JSON.stringify(stubs))}::text::jsonb,
        ${totals}::text::jsonb, ${queued}::text::jsonb),
      ${markingOf(sql, hours)}`;
}

/** Locks the events of one project's ids, by default against changes; returns types by id. */
export async function lockTypes(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
  against: "changes" | "deletion" = "changes",
): Promise<Map<string, StoredEvent["event_type"]>> {
  // The lock inside `lateral` makes Postgres look up each id by its key.
  const rows = await sql<{ event_id: string; event_type: StoredEvent["event_type"] }[]>`
    select held.event_id, held.event_type
    from (
      select event_id
      from unnest(${eventIds.map(escapeText)}::text[]) as given (event_id)
      order by event_id
    ) as wanted
    cross join lateral (
      select events.event_id, events.event_type
      from events
      where events.project_id = ${projectId} and events.event_id = wanted.event_id
        and events.event_type <> 'pending'
      for ${against === "changes" ? sql`no key update` : sql`key share`}
    ) as held`;
  return new Map(rows.map((row) => [unescapeText(row.event_id), row.event_type]));
}

/** Returns the existing events of some ids, by start time. */
export async function listByStart(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
): Promise<string[]> {
  // `limit` inside `lateral` makes Postgres look up each id by its key.
  const rows = await sql<{ event_id: string }[]>`
    select found.event_id
    from unnest(${eventIds.map(escapeText)}::text[]) as wanted (event_id)
    cross join lateral (
      select events.event_id, events.start_time_us
      from events
      where events.project_id = ${projectId} and events.event_id = wanted.event_id
      limit 1
    ) as found
    order by found.start_time_us, found.event_id`;
  return rows.map((row) => unescapeText(row.event_id));
}

/** Metrics for an event, and the keys to remove before they are merged. */
export type MetricsMerge = {
  readonly eventId: string;
  readonly metrics: JsonObject;
  readonly removed: readonly string[];
};

/** Merges metrics into events that `lockTypes` has locked, and changes nothing else of them. */
export async function mergeMetrics(
  sql: Sql,
  projectId: string,
  merges: readonly MetricsMerge[],
): Promise<void> {
  const rows = merges.map(({ eventId, ...merge }) => ({ event_id: eventId, ...merge }));
  // The extra list of ids keeps Postgres from reading all events of the project, which it sometimes
  // does for the join alone.
  const changed = await sql<ChangedRow[]>`
    update events set metrics = (events.metrics - incoming.removed) || incoming.metrics
    from jsonb_to_recordset(${escapeJson(JSON.stringify(rows))}::text::jsonb) as incoming (
      event_id text, metrics jsonb, removed text[])
    where events.project_id = ${projectId} and events.event_id = incoming.event_id
      and events.event_id = any(${merges.map(({ eventId }) => escapeText(eventId))})
    returning events.event_type, events.start_time_us`;
  await markChanged(sql, projectId, changed);
}

/** Kind of a row that is not a session with a name. */
export type NamelessKind = "session" | "pending" | "event";

/** Returns the kinds of those given session ids whose row is not a session or has no name. */
export async function listNamelessSessions(
  sql: Sql,
  projectId: string,
  sessionIds: readonly string[],
): Promise<Map<string, NamelessKind>> {
  const rows = await sql<{ event_id: string; kind: NamelessKind }[]>`
    select event_id, case
        when event_type = 'pending' then 'pending'
        when event_type = 'session' and session_id = event_id then 'session'
        else 'event'
      end as kind
    from events
    where project_id = ${projectId} and event_id = any(${sessionIds.map(escapeText)})
      and (event_type <> 'session' or session_id <> event_id or event_name = 'unknown')`;
  return new Map(rows.map((row) => [unescapeText(row.event_id), row.kind]));
}

/** Widest times of a session's events, in microseconds. */
export type SessionTimes = EventKey & {
  readonly start_time_us: number;
  readonly end_time_us: number;
};

/**
 * Widens the times of sessions to those of their events. Sessions that are already as wide are not
 * written.
 */
export async function widenSessions(sql: Sql, times: readonly SessionTimes[]): Promise<void> {
  const byProject = Map.groupBy(times, (row) => row.project_id);
  // Every writer uses this order, which prevents deadlocks.
  for (const projectId of [...byProject.keys()].toSorted()) {
    await widenSessionsOf(sql, projectId, byProject.get(projectId) ?? []);
  }
}

/**
 * `for no key update` makes Postgres look up each session by its key, and `|| ''` hides the index
 * on sessions: a join, or that index, sometimes reads all events of the project. For the same
 * reason there is one statement per project, with arrays: Postgres expects ten rows of an array but
 * a hundred of JSON, and for a hundred it reads all events of the project.
 */
async function widenSessionsOf(
  sql: Sql,
  projectId: string,
  rows: readonly SessionTimes[],
): Promise<void> {
  await sql`
    with wider as materialized (
      select e.event_id, i.start_time_us, i.end_time_us
      from (
        select event_id, start_time_us, end_time_us
        from unnest(
          ${rows.map((row) => escapeText(row.event_id))}::text[],
          ${rows.map((row) => row.start_time_us)}::bigint[],
          ${rows.map((row) => row.end_time_us)}::bigint[]
        ) as incoming (event_id, start_time_us, end_time_us)
        order by event_id
      ) as i
      cross join lateral (
        select events.event_id
        from events
        where events.project_id = ${projectId} and events.event_id = i.event_id
          and events.event_type || '' = 'session'
          and (events.start_time_us > i.start_time_us
            or events.end_time_us is null or events.end_time_us < i.end_time_us)
        for no key update
      ) as e)
    update events set
      start_time_us = least(events.start_time_us, wider.start_time_us),
      end_time_us = greatest(events.end_time_us, wider.end_time_us)
    from wider
    where events.project_id = ${projectId} and events.event_id = wider.event_id`;
}

/** Returns the sources of the existing sessions, by session id. */
export async function listSessionSources(
  sql: Sql,
  projectId: string,
  sessionIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql<{ event_id: string; source: string }[]>`
    select event_id, source
    from find_events(${projectId}, ${sessionIds.map(escapeText)}::text[])
    where event_type = 'session' and session_id = event_id`;
  return new Map(rows.map((row) => [unescapeText(row.event_id), unescapeText(row.source)]));
}

/** Returns the sessions of the existing events, by event id. */
export async function listSessionIds(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql<{ event_id: string; session_id: string }[]>`
    select event_id, session_id
    from find_events(${projectId}, ${eventIds.map(escapeText)}::text[])
    where event_type <> 'pending'`;
  return new Map(rows.map((row) => [unescapeText(row.event_id), unescapeText(row.session_id)]));
}

/** Deletes an event that `lockHeld` has locked, and what belongs to it. */
export async function deleteEvent(sql: Sql, projectId: string, eventId: string): Promise<void> {
  await sql`
    delete from feedback
    where project_id = ${projectId} and generation_id = ${escapeText(eventId)}`;
  const deleted = await sql<DeletedRow[]>`
    delete from events
    where project_id = ${projectId} and event_id = ${escapeText(eventId)}
    returning ${deletedColumns(sql)}`;
  await endDeletion(sql, projectId, deleted);
}

/** A deleted event as `deletedColumns` returns it; the id is as stored. */
export type DeletedRow = ChangedRow & { readonly event_id: string };

/** Returns what a statement that deletes events returns of each, for `endDeletion`. */
export function deletedColumns(sql: Sql) {
  return sql`event_id, event_type, start_time_us`;
}

/** Marks the hours of deleted events and deletes what belonged to them, in their transaction. */
export async function endDeletion(
  sql: Sql,
  projectId: string,
  deleted: readonly DeletedRow[],
): Promise<void> {
  await markChanged(sql, projectId, deleted);
  await deleteWhatEventsHad(
    sql,
    projectId,
    deleted.map(({ event_id }) => event_id),
  );
}

/**
 * Deletes the scores of deleted events, and what belongs to annotation queues, in a statement of
 * its own, which sees the scores of writers that held the events. Ids are as stored.
 */
export async function deleteWhatEventsHad(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
): Promise<void> {
  await sql`select delete_what_events_had(${projectId}, ${[...eventIds]}::text[])`;
}

/** Returns rows, the JSON array of a statement (row-statements.ts), as the table `incoming`. */
export function incomingRows(sql: Sql, rows: string) {
  return sql`
    jsonb_to_recordset(${jsonParameter(sql, rows)}::jsonb) as incoming (
      project_id uuid, event_id text, session_id text, event_type text, event_name text,
      source text, parent_id text, children_ids text[], error text, sets_error boolean,
      start_time_us bigint, end_time_us bigint, duration_ms double precision, config jsonb,
      inputs jsonb, outputs jsonb, metadata jsonb, metrics jsonb, feedback jsonb,
      user_properties jsonb, cost_estimate jsonb, is_whole boolean)`;
}
