// Events by conditions, their places and sizes, in Postgres. Called by selection.ts. Every
// statement names its project and leaves waiting updates (`pending`) out.

import type { PendingQuery, Row } from "postgres";
import type { Sql } from "../../postgres/database.ts";
import type { StoredEvent } from "../events/event.ts";
import { selectedColumns, type SelectedRow, toSelectedEvent } from "../events/event-row.ts";
import { escapeText, unescapeText } from "../events/postgres-text.ts";
import type { Condition } from "../export/condition.ts";
import { conditionsSql } from "../export/filter-sql.ts";
import type { EventPlace } from "./selection.ts";

/** Which events are meant. Start times in microseconds: `fromUs` included, `toUs` excluded. */
export type EventQuery = {
  readonly projectId: string;
  readonly conditions: readonly Condition[];
  readonly fromUs: number | undefined;
  readonly toUs: number | undefined;
};

/** Returns those of the ids whose events meet all conditions. */
export async function listMatching(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
  conditions: readonly Condition[],
): Promise<string[]> {
  // Each is looked up by its key, as `limit` makes Postgres do inside `lateral`: it would at times
  // find all that meet some condition, and compare their ids with these.
  const rows = await sql<{ event_id: string }[]>`
    select wanted.event_id
    from unnest(${eventIds.map(escapeText)}::text[]) as wanted (event_id)
    cross join lateral (
      select true
      from events as e
      where e.project_id = ${projectId} and e.event_id = wanted.event_id
        and e.event_type <> 'pending' ${conditionsSql(sql, conditions)}
      limit 1
    ) as found`;
  return rows.map((row) => unescapeText(row.event_id));
}

type PlaceRow = { readonly event_id: string; readonly start_time_us: number };

/**
 * Returns the place `offset` events after another, whatever the conditions; undefined past the end.
 */
export async function findPlace(
  sql: Sql,
  query: EventQuery,
  { after, offset }: { readonly after: EventPlace | undefined; readonly offset: number },
): Promise<EventPlace | undefined> {
  const [row] = await sql<PlaceRow[]>`
    select e.event_id, e.start_time_us
    from events as e
    where ${matching(sql, query)} ${beyond(sql, after)}
    order by e.start_time_us desc, e.event_id desc
    limit 1
    offset ${offset}`;
  return row && toPlace(row);
}

/** Returns the events after a place that meet the conditions, `end` included, at most `limit`. */
export async function listPlaces(
  sql: Sql,
  query: EventQuery,
  bounds: {
    readonly after: EventPlace | undefined;
    readonly end: EventPlace | undefined;
    readonly limit: number;
  },
): Promise<EventPlace[]> {
  const { after, end, limit } = bounds;
  const upTo = end
    ? sql`and (e.start_time_us, e.event_id) >= (${end.startTimeUs}, ${escapeText(end.eventId)})`
    : sql``;
  const rows = await sql<PlaceRow[]>`
    select e.event_id, e.start_time_us
    from events as e
    where ${matching(sql, query)} ${beyond(sql, after)} ${upTo}
      ${conditionsSql(sql, query.conditions)}
    order by e.start_time_us desc, e.event_id desc
    limit ${limit}`;
  return rows.map(toPlace);
}

/** Counts the events that meet the conditions. */
export async function countEvents(
  sql: Sql,
  query: EventQuery,
  signal: AbortSignal | undefined,
): Promise<number> {
  signal?.throwIfAborted();
  const statement = sql<{ count: number }[]>`
    select count(*)::integer as count
    from events as e
    where ${matching(sql, query)} ${conditionsSql(sql, query.conditions)}`;
  const cancel = (): void => statement.cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    const [row] = await statement;
    return row?.count ?? 0;
  } catch (error) {
    // Cancelled by us: nothing of the database failed.
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

/** Returns the bytes that events take in the table, compressed, by id. */
export async function listSizes(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await sql<{ event_id: string; bytes: number }[]>`
    select event_id, pg_column_size(inputs) + pg_column_size(outputs) + pg_column_size(metadata)
      + pg_column_size(config) + pg_column_size(metrics) + pg_column_size(feedback)
      + pg_column_size(user_properties) as bytes
    from events
    where project_id = ${projectId} and event_id = any(${eventIds.map(escapeText)})`;
  return new Map(rows.map((row) => [unescapeText(row.event_id), row.bytes]));
}

/** Returns the events of the ids, in the order of the ids. */
export async function listEvents(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
): Promise<StoredEvent[]> {
  const rows = await sql<SelectedRow[]>`
    select ${selectedColumns(sql, undefined)}
    from events as e
    where e.project_id = ${projectId} and e.event_id = any(${eventIds.map(escapeText)})
      and e.event_type <> 'pending'`;
  // Every column was selected, so nothing of a stored event is missing.
  const events = new Map(
    rows.map((row) => [unescapeText(row.event_id), toSelectedEvent(row) as StoredEvent]),
  );
  return eventIds.map((id) => events.get(id)).filter((event) => event !== undefined);
}

/** Returns which of the conditions an event meets, in their order; undefined without the event. */
export async function testEvent(
  sql: Sql,
  projectId: string,
  eventId: string,
  conditions: readonly Condition[],
): Promise<boolean[] | undefined> {
  const tests = conditions
    .map((condition) => sql`(true ${conditionsSql(sql, [condition])}) is true`)
    .reduce((left, right) => sql`${left}, ${right}`, sql`true`);
  const [row] = await sql<{ holds: boolean[] }[]>`
    select array[${tests}] as holds
    from events as e
    where e.project_id = ${projectId} and e.event_id = ${escapeText(eventId)}
      and e.event_type <> 'pending'`;
  // The first stands for none, since an array of nothing has no type.
  return row?.holds.slice(1);
}

function matching(sql: Sql, { projectId, fromUs, toUs }: EventQuery): PendingQuery<Row[]> {
  const from = fromUs === undefined ? sql`` : sql`and e.start_time_us >= ${fromUs}`;
  const to = toUs === undefined ? sql`` : sql`and e.start_time_us < ${toUs}`;
  return sql`e.project_id = ${projectId} and e.event_type <> 'pending' ${from} ${to}`;
}

function beyond(sql: Sql, after: EventPlace | undefined): PendingQuery<Row[]> {
  if (after === undefined) return sql``;
  const { startTimeUs, eventId } = after;
  return sql`and (e.start_time_us, e.event_id) < (${startTimeUs}, ${escapeText(eventId)})`;
}

function toPlace(row: PlaceRow): EventPlace {
  return { startTimeUs: row.start_time_us, eventId: unescapeText(row.event_id) };
}
