// Sessions in Postgres: totals, trees, deletion. Every statement names its project.

import type { Read, Sql } from "../../postgres/database.ts";
import { deletedColumns, type DeletedRow, endDeletion } from "../events/store.ts";
import { escapeJson, escapeText } from "../events/postgres-text.ts";
import type { Condition } from "../export/condition.ts";
import { type ColumnSql, conditionsSql, eventColumnSql } from "../export/filter-sql.ts";
import { beyond, type EventPlace } from "../export/place-store.ts";
import type { StoredEvent } from "../events/event.ts";
import type { EventFieldName } from "../events/event-row.ts";
import type { RowSource } from "../events/sized-store.ts";
import { shownTotalNames, type Totals, totalNames } from "./totals.ts";

/** Change of one session's totals by a commit. */
export type TotalsTerms = Omit<Totals, "cost"> & {
  readonly project_id: string;
  readonly session_id: string;
  /** Costs added; removed costs are negative. */
  readonly costs: readonly number[];
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

/** Adds to the totals of sessions. Rows are ordered by key, so that writers do not deadlock. */
export async function addToTotals(sql: Sql, rows: readonly TotalsTerms[]): Promise<void> {
  await sql`select add_to_totals(${toTotalsJson(rows)}::text::jsonb)`;
}

/** Returns the parameter of the functions of migration 0018 that add to totals. */
export function toTotalsJson(rows: readonly TotalsTerms[]): string {
  return escapeJson(JSON.stringify(rows));
}

/** Returns a session's totals; undefined if nothing is counted yet. */
export async function findTotals(
  read: Read,
  projectId: string,
  sessionId: string,
): Promise<Totals | undefined> {
  // Sums are decimals in the table and plain numbers for readers.
  const [row] = await read(
    (sql) => sql<Totals[]>`
      select
        t.num_events, t.num_model_events, t.num_errors, t.num_costs, t.num_feedback,
        t.prompt_tokens::double precision, t.completion_tokens::double precision,
        t.total_tokens::double precision, t.cost::double precision
      from session_totals as t
      where t.project_id = ${projectId} and t.session_id = ${escapeText(sessionId)}`,
  );
  return row;
}

/** Returns whether an event is a session, not an event of that type inside another. */
export async function isSession(sql: Sql, projectId: string, eventId: string): Promise<boolean> {
  const rows = await sql`
    select 1
    from events
    where project_id = ${projectId} and event_id = ${escapeText(eventId)}
      and event_type = 'session' and session_id = event_id`;
  return rows.length > 0;
}

/** Fields of an event in a tree without payloads, in addition to id, type and start. */
export const skeletonFields: ReadonlySet<EventFieldName> = new Set([
  "event_name",
  "parent_id",
  "children_ids",
  "error",
  "end_time",
  "duration",
]);

/** Returns the source of a session's events by start time, without the session itself. */
export function eventsOf(projectId: string, sessionId: string, limit: number): RowSource {
  return (sql, columns) => sql`
    select ${columns}
    from events as e
    where e.project_id = ${projectId} and e.session_id = ${escapeText(sessionId)}
      and e.event_id <> ${escapeText(sessionId)} and e.event_type <> 'pending'
    order by e.start_time_us, e.event_id
    limit ${limit}`;
}

/** Events of a session that one statement deletes: the service holds what it returns of each. */
const deletedAtOnceMax = 10_000;

/**
 * Deletes the events of a session, their feedback and the session's totals; returns the number of
 * deleted events.
 */
export async function deleteSession(
  sql: Sql,
  projectId: string,
  sessionId: string,
): Promise<number> {
  const id = escapeText(sessionId);
  // Locks in the order of every writer, so that a concurrent batch does not deadlock.
  await sql`
    with locked as materialized (
      select 1
      from events
      where project_id = ${projectId} and session_id = ${id} and event_type <> 'pending'
      order by event_id
      for update)
    select count(*) from locked`;
  // Waits for writers that found the session, whose events are deleted as well.
  await sql`
    select 1
    from session_totals
    where project_id = ${projectId} and session_id = ${id}
    for update`;
  await sql`
    delete from feedback
    where project_id = ${projectId} and generation_id = any(array(
      select event_id
      from events
      where project_id = ${projectId} and session_id = ${id} and event_type <> 'pending'))`;
  let count = 0;
  let fromUs = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const deleted = await sql<DeletedRow[]>`
      delete from events
      where project_id = ${projectId} and event_id = any(array(
        select event_id
        from events
        where project_id = ${projectId} and session_id = ${id} and event_type <> 'pending'
          and start_time_us >= ${fromUs}
        order by start_time_us
        limit ${deletedAtOnceMax}))
      returning ${deletedColumns(sql)}`;
    if (deleted.length === 0) break;
    await endDeletion(sql, projectId, deleted);
    count += deleted.length;
    // Skips the deleted rows, which Postgres would look at once more.
    fromUs = deleted.reduce((most, row) => Math.max(most, row.start_time_us), fromUs);
  }
  await sql`
    delete from session_totals
    where project_id = ${projectId} and session_id = ${id}`;
  return count;
}

/** Selects sessions. Microseconds: `fromUs` inclusive, `toUs` exclusive. */
export type SessionQuery = {
  readonly conditions: readonly Condition[];
  readonly fromUs: number | undefined;
  readonly toUs: number | undefined;
  readonly after: EventPlace | undefined;
  readonly limit: number;
};

const totalSql: ColumnSql = {
  ...Object.fromEntries(
    totalNames.map((name) => [name, (sql: Sql) => sql`coalesce(t.${sql(name)}, 0)`]),
  ),
  cost: (sql) => sql`case when t.num_costs > 0 then t.cost end`,
};

const hasFeedbackSql = (sql: Sql) => sql`(coalesce(t.num_feedback, 0) > 0)`;

/** Returns SQL of a sum as the metadata shows it: the sender's own key wins. */
function shownSql(name: (typeof shownTotalNames)[number]): ColumnSql[string] {
  return (sql) => sql`case
    when not e.metadata ? ${name}::text then ${totalSql[name]?.(sql) ?? sql`null`}::double precision
    when jsonb_typeof(e.metadata -> ${name}::text) = 'number'
      then (e.metadata -> ${name}::text)::double precision end`;
}

/** SQL of the session columns that filters may name, including those of its event. */
const sessionColumnSql: ColumnSql = {
  ...eventColumnSql,
  session_name: (sql) => sql`e.event_name`,
  has_feedback: hasFeedbackSql,
  "metadata.has_feedback": (sql) => sql`case
    when not e.metadata ? 'has_feedback' then ${hasFeedbackSql(sql)}
    when jsonb_typeof(e.metadata -> 'has_feedback') = 'boolean'
      then (e.metadata -> 'has_feedback')::boolean end`,
  ...totalSql,
  ...Object.fromEntries(shownTotalNames.map((name) => [`metadata.${name}`, shownSql(name)])),
};

/**
 * Returns the source of sessions, newest first; their totals are columns of `t`. The `case` keeps
 * Postgres from taking sessions for rare: it expects two columns to differ, yet few sessions lie
 * inside another.
 */
export function sessionsOf(
  projectId: string,
  { conditions, fromUs, toUs, after, limit }: SessionQuery,
): RowSource {
  return (sql, columns) => sql`
    select ${columns}
    from events as e
    left join session_totals as t on t.project_id = e.project_id and t.session_id = e.event_id
    where e.project_id = ${projectId} and e.event_type = 'session'
      and case when e.event_id = e.session_id then true else false end
      ${fromUs === undefined ? sql`` : sql`and e.start_time_us >= ${fromUs}`}
      ${toUs === undefined ? sql`` : sql`and e.start_time_us < ${toUs}`}
      ${beyond(sql, after)}
      ${conditionsSql(sql, conditions, sessionColumnSql)}
    order by e.start_time_us desc, e.event_id desc
    limit ${limit}`;
}
