// Events in Postgres. The caller decides the transaction; every statement names its project.

import type { JsonObject } from "../../base/json.ts";
import type { Sql } from "../../postgres/database.ts";
import type { StoredEvent } from "./event.ts";
import { type SelectedRow, selectedColumns, toSelectedEvent } from "./event-row.ts";
import type { Pending } from "./merge.ts";
import { escapeJson, escapeText, unescapeText } from "./postgres-text.ts";

export type EventKey = { readonly project_id: string; readonly event_id: string };

/** What an id holds: an event, or the merged updates that came before it. */
export type Held =
  | { readonly key: EventKey; readonly event: StoredEvent }
  | { readonly key: EventKey; readonly pending: Pending };

// A commit of the usual size is one statement; the largest batch in one would stand in memory
// several times over, as rows, as text and as bytes.
const rowsPerStatementMax = 2_000;

/**
 * Inserts rows that are not there yet and returns the keys of those inserted. Ordered by key, as
 * every writer is: parallel upserts in other orders deadlock.
 */
export async function insertEvents(
  sql: Sql,
  rows: readonly Record<string, unknown>[],
): Promise<EventKey[]> {
  const inserted: EventKey[] = [];
  for (const group of groupRows(rows)) {
    for (const key of await insertGroup(sql, group)) inserted.push(key);
  }
  return inserted;
}

function groupRows<R extends Record<string, unknown>>(
  rows: readonly R[],
): readonly (readonly R[])[] {
  if (rows.length <= rowsPerStatementMax) return rows.length === 0 ? [] : [rows];
  const sorted = rows.toSorted((a, b) => (keyTextOf(a) < keyTextOf(b) ? -1 : 1));
  return Array.from({ length: Math.ceil(rows.length / rowsPerStatementMax) }, (_, group) =>
    sorted.slice(group * rowsPerStatementMax, (group + 1) * rowsPerStatementMax),
  );
}

function keyTextOf({ project_id, event_id }: Record<string, unknown>): string {
  return `${String(project_id)} ${String(event_id)}`;
}

function insertGroup(sql: Sql, rows: readonly Record<string, unknown>[]): Promise<EventKey[]> {
  return sql<EventKey[]>`
    insert into events (
      project_id, event_id, session_id, event_type, event_name, source, parent_id, children_ids,
      error, start_time_us, end_time_us, duration_ms,
      config, inputs, outputs, metadata, metrics, feedback, user_properties, cost_estimate)
    select
      project_id, event_id, session_id, event_type, event_name, source, parent_id, children_ids,
      error, start_time_us, end_time_us, duration_ms,
      config, inputs, outputs, metadata, metrics, feedback, user_properties, cost_estimate
    from ${incoming(sql, rows)}
    order by project_id, event_id
    on conflict (project_id, event_id) do nothing
    returning project_id, event_id`;
}

/** Replaces rows that `lockEvents` has locked. */
export async function replaceEvents(
  sql: Sql,
  rows: readonly Record<string, unknown>[],
): Promise<void> {
  for (const group of groupRows(rows)) await replaceGroup(sql, group);
}

async function replaceGroup(sql: Sql, rows: readonly Record<string, unknown>[]): Promise<void> {
  await sql`
    update events set
      session_id = incoming.session_id,
      event_type = incoming.event_type,
      event_name = incoming.event_name,
      source = incoming.source,
      parent_id = incoming.parent_id,
      children_ids = incoming.children_ids,
      error = incoming.error,
      start_time_us = incoming.start_time_us,
      end_time_us = incoming.end_time_us,
      duration_ms = incoming.duration_ms,
      config = incoming.config,
      inputs = incoming.inputs,
      outputs = incoming.outputs,
      metadata = incoming.metadata,
      metrics = incoming.metrics,
      feedback = incoming.feedback,
      user_properties = incoming.user_properties,
      cost_estimate = incoming.cost_estimate
    from ${incoming(sql, rows)}
    where events.project_id = incoming.project_id and events.event_id = incoming.event_id`;
}

/** Locks and returns what the ids of one project hold, ordered by id; absent ids are left out. */
export async function lockEvents(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
): Promise<Held[]> {
  const rows = await sql<SelectedRow[]>`
    select ${selectedColumns(sql, undefined)}
    from events as e
    where e.project_id = ${projectId} and e.event_id = any(${eventIds.map(escapeText)})
    order by e.event_id
    for no key update`;
  return rows.map((row) => toHeld(projectId, row));
}

/** Locks what the ids of one project hold and returns the types of the events, by id. */
export async function lockTypes(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
): Promise<Map<string, StoredEvent["event_type"]>> {
  // Each is looked up by its key, as `for no key update` makes Postgres do inside `lateral`.
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
      for no key update
    ) as held`;
  return new Map(rows.map((row) => [unescapeText(row.event_id), row.event_type]));
}

/** Metrics for an event, and the keys to remove before they are merged. */
export type MetricsMerge = {
  readonly eventId: string;
  readonly metrics: JsonObject;
  readonly removed: readonly string[];
};

/** Merges metrics into events that `lockTypes` has locked, and touches nothing else of them. */
export async function mergeMetrics(
  sql: Sql,
  projectId: string,
  merges: readonly MetricsMerge[],
): Promise<void> {
  const rows = merges.map(({ eventId, ...merge }) => ({ event_id: eventId, ...merge }));
  // The ids once more, as a list: joined alone, Postgres would at times read all of the project's.
  await sql`
    update events set metrics = (events.metrics - incoming.removed) || incoming.metrics
    from jsonb_to_recordset(${escapeJson(JSON.stringify(rows))}::text::jsonb) as incoming (
      event_id text, metrics jsonb, removed text[])
    where events.project_id = ${projectId} and events.event_id = incoming.event_id
      and events.event_id = any(${merges.map(({ eventId }) => escapeText(eventId))})`;
}

/** Returns the visible event of an id, or undefined. */
export async function findEvent(
  sql: Sql,
  projectId: string,
  eventId: string,
): Promise<StoredEvent | undefined> {
  const [row] = await sql<SelectedRow[]>`
    select ${selectedColumns(sql, undefined)}
    from events as e
    where e.project_id = ${projectId} and e.event_id = ${escapeText(eventId)}
      and e.event_type <> 'pending'`;
  return row && (toSelectedEvent(row) as StoredEvent);
}

/** Of the given session ids, those whose row is no session or has no name, with its type. */
export async function listNamelessSessions(
  sql: Sql,
  projectId: string,
  sessionIds: readonly string[],
): Promise<Map<string, StoredEvent["event_type"] | "pending">> {
  const rows = await sql<{ event_id: string; event_type: StoredEvent["event_type"] }[]>`
    select event_id, event_type
    from events
    where project_id = ${projectId} and event_id = any(${sessionIds.map(escapeText)})
      and (event_type <> 'session' or event_name = 'unknown')`;
  return new Map(rows.map((row) => [unescapeText(row.event_id), row.event_type]));
}

/** Widest times of a session's events, microseconds. */
export type SessionTimes = EventKey & {
  readonly start_time_us: number;
  readonly end_time_us: number;
};

/**
 * Widens the times of sessions to those of their events; a session that is as wide is not written.
 */
export async function widenSessions(sql: Sql, times: readonly SessionTimes[]): Promise<void> {
  const byProject = Map.groupBy(times, (row) => row.project_id);
  // In the order of every writer.
  for (const projectId of [...byProject.keys()].toSorted()) {
    await widenSessionsOf(sql, projectId, byProject.get(projectId) ?? []);
  }
}

/**
 * Each session is looked up by its key, as `for update` makes Postgres do, and `|| ''` hides the
 * index on sessions from it: a join, or that index, would at times read all of the project's. For
 * the same reason there is one statement for each project, whose one partition is planned for, and
 * arrays, whose length Postgres knows: of JSON it expects a hundred rows, and reads all for them.
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

/** Returns the sources of the sessions that exist, by session id. */
export async function listSessionSources(
  sql: Sql,
  projectId: string,
  sessionIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql<{ event_id: string; source: string }[]>`
    select event_id, source
    from events
    where project_id = ${projectId} and event_id = any(${sessionIds.map(escapeText)})
      and event_type = 'session'`;
  return new Map(rows.map((row) => [unescapeText(row.event_id), unescapeText(row.source)]));
}

/** Returns the sessions of the events that exist, by event id. */
export async function listSessionIds(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql<{ event_id: string; session_id: string }[]>`
    select event_id, session_id
    from events
    where project_id = ${projectId} and event_id = any(${eventIds.map(escapeText)})
      and event_type <> 'pending'`;
  return new Map(rows.map((row) => [unescapeText(row.event_id), unescapeText(row.session_id)]));
}

/** Deletes an event that `lockEvents` has locked, and the feedback on it. */
export async function deleteEvent(sql: Sql, projectId: string, eventId: string): Promise<void> {
  await sql`
    delete from feedback
    where project_id = ${projectId} and generation_id = ${escapeText(eventId)}`;
  await sql`
    delete from events
    where project_id = ${projectId} and event_id = ${escapeText(eventId)}`;
}

function incoming(sql: Sql, rows: readonly Record<string, unknown>[]) {
  return sql`
    jsonb_to_recordset(${escapeJson(JSON.stringify(rows))}::text::jsonb) as incoming (
      project_id uuid, event_id text, session_id text, event_type text, event_name text,
      source text, parent_id text, children_ids text[], error text, start_time_us bigint,
      end_time_us bigint, duration_ms double precision, config jsonb, inputs jsonb, outputs jsonb,
      metadata jsonb, metrics jsonb, feedback jsonb, user_properties jsonb,
      cost_estimate jsonb)`;
}

function toHeld(projectId: string, row: SelectedRow): Held {
  // Every column was selected, so nothing of a stored event is missing.
  const event = toSelectedEvent(row) as StoredEvent;
  const key = { project_id: projectId, event_id: event.event_id };
  const isPending = (row.event_type as string) === "pending";
  return isPending ? { key, pending: event.inputs } : { key, event };
}
