// Events by conditions, in Postgres. Every statement names its project and leaves waiting updates
// (`pending`) out. Source: docs/decisions.md, 15.

import type { PendingQuery, Row } from "postgres";
import type { Sql } from "../../postgres/database.ts";
import {
  type EventFieldName,
  type SelectedEvent,
  selectedColumns,
  type SelectedRow,
  toSelectedEvent,
} from "../events/event-row.ts";
import { escapeText, unescapeText } from "../events/postgres-text.ts";
import { readBounded } from "../events/read-bounded.ts";
import type { Condition } from "./condition.ts";
import type { Position } from "./cursor.ts";
import { conditionsSql } from "./filter-sql.ts";

/** Which events are meant. Start times in microseconds: `fromUs` included, `toUs` excluded. */
export type EventQuery = {
  readonly projectId: string;
  readonly conditions: readonly Condition[];
  readonly fromUs: number | undefined;
  readonly toUs: number | undefined;
};

export type EventPage = {
  readonly projections: ReadonlySet<EventFieldName> | undefined;
  readonly limit: number;
  readonly offset: number;
  /** The page begins after this row. */
  readonly after: Position | undefined;
  /** True to find all that match by an index on what is asked for, and sort them. */
  readonly sortsAll: boolean;
};

/** Returns a page of events, the newest first. `signal` cancels the statement. */
export async function listEvents(
  sql: Sql,
  query: EventQuery,
  page: EventPage,
  signal: AbortSignal | undefined,
): Promise<SelectedEvent[]> {
  const { after } = page;
  // An expression keeps Postgres from walking the index on start times, which it would for rare
  // matches too: it takes any containment to hold for one row in a hundred.
  const startTime = page.sortsAll ? sql`(e.start_time_us + 0)` : sql`e.start_time_us`;
  const beyond = after
    ? sql`and (e.start_time_us, e.event_id) < (${after.startTimeUs}, ${escapeText(after.eventId)})`
    : sql``;
  const columns = selectedColumns(sql, page.projections);
  if (page.offset === 0) {
    return readBounded(
      sql<SelectedRow[]>`
        select ${columns}
        from events as e
        where ${matching(sql, query)} ${beyond}
        order by ${startTime} desc, e.event_id desc
        limit ${page.limit}`,
      signal,
    );
  }
  // Postgres would read the payloads of the rows that it skips; the ids are in the index.
  return readBounded(
    sql<SelectedRow[]>`
      select ${columns}
      from (
        select e.event_id, ${startTime} as start_time
        from events as e
        where ${matching(sql, query)} ${beyond}
        order by ${startTime} desc, e.event_id desc
        limit ${page.limit}
        offset ${page.offset}) as page
      join events as e on e.project_id = ${query.projectId} and e.event_id = page.event_id
      order by page.start_time desc, page.event_id desc`,
    signal,
  );
}

/** Returns how many events there are in all, and the newest start, null for none. */
export async function countEvents(
  sql: Sql,
  query: EventQuery,
  signal: AbortSignal | undefined,
): Promise<{ count: number; newestUs: number | null }> {
  const [row] = await run(
    sql<{ count: number; newest_us: number | null }[]>`
      select count(*)::integer as count, max(e.start_time_us) as newest_us
      from events as e
      where ${matching(sql, query)}`,
    signal,
  );
  return { count: row?.count ?? 0, newestUs: row?.newest_us ?? null };
}

// A stream may sort many rows before the first comes, and its reader may be slow; a reader that
// takes nothing for minutes must not hold back vacuum for ever.
const streamStatementTimeout = "10min";
const streamIdleTimeout = "5min";

/** Id of an event of a stream and the bytes it takes in the table, compressed. */
export type StreamKey = { readonly eventId: string; readonly bytes: number };

/**
 * Opens the stream of events in the caller's transaction, which must have run nothing before: it
 * all reads one snapshot. Only ids are held and sorted; payloads are read in small groups.
 */
export async function openStream(
  sql: Sql,
  query: EventQuery,
  signal: AbortSignal | undefined,
): Promise<void> {
  await sql`set transaction isolation level repeatable read, read only`;
  await sql`
    select set_config('statement_timeout', ${streamStatementTimeout}, true),
      set_config('idle_in_transaction_session_timeout', ${streamIdleTimeout}, true)`;
  await run(
    sql`
      declare event_stream no scroll cursor for
      select e.event_id, pg_column_size(e.inputs) + pg_column_size(e.outputs)
          + pg_column_size(e.metadata) + pg_column_size(e.config) + pg_column_size(e.metrics)
          + pg_column_size(e.feedback) + pg_column_size(e.user_properties) as bytes
      from events as e
      where ${matching(sql, query)}
      order by e.start_time_us desc, e.event_id desc`,
    signal,
  );
}

/** Returns the next ids of the open stream, at most 2,000; none at its end. */
export async function fetchStreamKeys(
  sql: Sql,
  signal: AbortSignal | undefined,
): Promise<StreamKey[]> {
  const rows = await run(
    sql<{ event_id: string; bytes: number }[]>`fetch forward 2000 from event_stream`,
    signal,
  );
  return rows.map((row) => ({ eventId: unescapeText(row.event_id), bytes: row.bytes }));
}

/** Returns the events of the ids, in the order of the ids. */
export async function listEventsByIds(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
  projections: ReadonlySet<EventFieldName> | undefined,
): Promise<SelectedEvent[]> {
  const rows = await sql<SelectedRow[]>`
    select ${selectedColumns(sql, projections)}
    from events as e
    where e.project_id = ${projectId} and e.event_id = any(${eventIds.map(escapeText)})`;
  const events = new Map(rows.map((row) => [unescapeText(row.event_id), toSelectedEvent(row)]));
  return eventIds.map((id) => events.get(id)).filter((event) => event !== undefined);
}

function matching(sql: Sql, query: EventQuery): PendingQuery<Row[]> {
  const from = query.fromUs === undefined ? sql`` : sql`and e.start_time_us >= ${query.fromUs}`;
  const to = query.toUs === undefined ? sql`` : sql`and e.start_time_us < ${query.toUs}`;
  return sql`e.project_id = ${query.projectId} and e.event_type <> 'pending'
    ${from} ${to} ${conditionsSql(sql, query.conditions)}`;
}

/** Runs a statement and cancels it in Postgres when nobody waits for it any more. */
async function run<T extends readonly Row[]>(
  statement: PendingQuery<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  signal?.throwIfAborted();
  const cancel = (): void => statement.cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    return await statement;
  } catch (error) {
    // Cancelled by us: nothing of the database failed.
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}
