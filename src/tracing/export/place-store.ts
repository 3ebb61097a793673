// Events by conditions and by their places in a project, newest first. A statement that walks back
// in time scans a bounded number of events: rare matches cost many short statements, not one that
// times out. Every statement names its project and skips waiting updates (`pending`).

import type { Fragment, Read, Sql } from "../../postgres/database.ts";
import { escapeText, unescapeText } from "../events/postgres-text.ts";
import type { RowSource } from "../events/sized-store.ts";
import type { Condition } from "./condition.ts";
import { conditionsSql } from "./filter-sql.ts";

/** Place of an event in a project: start time in microseconds, then id. */
export type EventPlace = { readonly startTimeUs: number; readonly eventId: string };

/** Selects events. Start times in microseconds: `fromUs` inclusive, `toUs` exclusive. */
export type EventQuery = {
  readonly projectId: string;
  readonly conditions: readonly Condition[];
  readonly fromUs: number | undefined;
  readonly toUs: number | undefined;
};

/** Range of a project's events between two places: `after` excluded, `end` included. */
export type Stretch = {
  readonly after: EventPlace | undefined;
  readonly end: EventPlace | undefined;
  readonly limit: number;
};

/** Maximum events that one statement scans. Events of usual size take one or two seconds. */
export const walkedMaxDefault = 20_000;

export type PlaceRow = { readonly event_id: string; readonly start_time_us: number };

/**
 * Returns the place `walked` events after `after`, ignoring the conditions; undefined past the end.
 * The place fixes the range to scan, even if events are stored meanwhile.
 */
export async function findPlace(
  read: Read,
  query: EventQuery,
  { after, walked }: { readonly after: EventPlace | undefined; readonly walked: number },
): Promise<EventPlace | undefined> {
  const [row] = await read(
    (sql) => sql<PlaceRow[]>`
      select e.event_id, e.start_time_us
      from events as e
      where ${matching(sql, { ...query, conditions: [] })} ${beyond(sql, after)}
      order by e.start_time_us desc, e.event_id desc
      limit 1
      offset ${walked - 1}`,
  );
  return row && toPlace(row);
}

/** Returns the source of the events in a stretch that meet the conditions. */
export function eventsIn(query: EventQuery, { after, end, limit }: Stretch): RowSource {
  return (sql, columns) => sql`
    select ${columns}
    from events as e
    where ${matching(sql, query)} ${beyond(sql, after)} ${upTo(sql, end)}
    order by e.start_time_us desc, e.event_id desc
    limit ${limit}`;
}

/** Returns the places of the events in a stretch that meet the conditions. */
export async function listPlaces(
  read: Read,
  query: EventQuery,
  stretch: Stretch,
): Promise<EventPlace[]> {
  const source = eventsIn(query, stretch);
  const rows = await read((sql) => source(sql, sql`e.event_id, e.start_time_us`));
  return (rows as unknown as readonly PlaceRow[]).map(toPlace);
}

/** Converts a row to its place. */
export function toPlace(row: PlaceRow): EventPlace {
  return { startTimeUs: row.start_time_us, eventId: unescapeText(row.event_id) };
}

/**
 * Returns the condition that an event is in the project and the bounds and meets all conditions.
 */
export function matching(sql: Sql, query: EventQuery): Fragment {
  const { projectId, conditions, fromUs, toUs } = query;
  const from = fromUs === undefined ? sql`` : sql`and e.start_time_us >= ${fromUs}`;
  const to = toUs === undefined ? sql`` : sql`and e.start_time_us < ${toUs}`;
  return sql`e.project_id = ${projectId} and e.event_type <> 'pending'
    ${from} ${to} ${conditionsSql(sql, conditions)}`;
}

/** Returns the condition that an event comes after a place; nothing if there is none. */
export function beyond(sql: Sql, after: EventPlace | undefined): Fragment {
  if (after === undefined) return sql``;
  const { startTimeUs, eventId } = after;
  return sql`and (e.start_time_us, e.event_id) < (${startTimeUs}, ${escapeText(eventId)})`;
}

function upTo(sql: Sql, end: EventPlace | undefined): Fragment {
  if (end === undefined) return sql``;
  return sql`and (e.start_time_us, e.event_id) >= (${end.startTimeUs}, ${escapeText(end.eventId)})`;
}
