// Pages and counts of events by conditions. Every statement names its project and skips waiting
// updates (`pending`). Source: docs/decisions.md, 15.1.

import type { Read } from "../../postgres/database.ts";
import type { RowSource } from "../events/sized-store.ts";
import { beyond, type EventPlace, type EventQuery, matching } from "./place-store.ts";

/**
 * Maximum number of matches to sort. Sorting them is faster than walking a million events back in
 * time.
 */
export const fewEvents = 5_000;

/** Position and size of a page in the result of a query. */
export type EventPage = {
  readonly limit: number;
  readonly offset: number;
  /** Row that precedes the page. */
  readonly after: EventPlace | undefined;
  /** True to find all matches by an index on the conditions, and sort them. */
  readonly sortsAll: boolean;
};

/** Returns the source of a page of events, newest first. */
export function pageOf(query: EventQuery, page: EventPage): RowSource {
  const { after, limit, offset } = page;
  return (sql, columns) => {
    // The expression keeps Postgres from walking the index on start times, which it does even for
    // rare matches: it estimates that any containment holds for one row in a hundred.
    const startTime = page.sortsAll ? sql`(e.start_time_us + 0)` : sql`e.start_time_us`;
    if (offset === 0) {
      return sql`
        select ${columns}
        from events as e
        where ${matching(sql, query)} ${beyond(sql, after)}
        order by ${startTime} desc, e.event_id desc
        limit ${limit}`;
    }
    // The inner select reads ids from the index only; otherwise Postgres reads the payloads of
    // skipped rows.
    return sql`
      select ${columns}
      from (
        select e.event_id, ${startTime} as start_time
        from events as e
        where ${matching(sql, query)} ${beyond(sql, after)}
        order by ${startTime} desc, e.event_id desc
        limit ${limit}
        offset ${offset}) as page
      join events as e on e.project_id = ${query.projectId} and e.event_id = page.event_id
      order by page.start_time desc, page.event_id desc`;
  };
}

/** Returns the number of events and the newest start time, null if there are none. */
export async function countEvents(
  read: Read,
  query: EventQuery,
): Promise<{ count: number; newestUs: number | null }> {
  const [row] = await read(
    (sql) => sql<{ count: number; newest_us: number | null }[]>`
      select count(*)::integer as count, max(e.start_time_us) as newest_us
      from events as e
      where ${matching(sql, query)}`,
  );
  return { count: row?.count ?? 0, newestUs: row?.newest_us ?? null };
}

/** Returns the number of events that Postgres expects by its statistics. */
export async function estimateEvents(read: Read, query: EventQuery): Promise<number> {
  const [row] = await read(
    (sql) => sql<{ "QUERY PLAN": readonly { Plan: { "Plan Rows": number } }[] }[]>`
      explain (format json)
      select 1
      from events as e
      where ${matching(sql, query)}`,
  );
  return row?.["QUERY PLAN"][0]?.Plan["Plan Rows"] ?? 0;
}

/**
 * Returns the number of events, at most `countMax`. Only for conditions that an index serves;
 * others scan the whole project.
 */
export async function countFew(read: Read, query: EventQuery, countMax: number): Promise<number> {
  const [row] = await read(
    (sql) => sql<{ count: number }[]>`
      select count(*)::integer as count
      from (
        select 1
        from events as e
        where ${matching(sql, query)}
        limit ${countMax}) as few`,
  );
  return row?.count ?? 0;
}
