// Pages and counts of events by conditions, in Postgres. Every statement names its project and
// leaves waiting updates (`pending`) out. Source: docs/decisions.md, 15.

import type { Read } from "../../postgres/database.ts";
import type { RowSource } from "../events/sized-store.ts";
import { beyond, type EventPlace, type EventQuery, matching } from "./place-store.ts";

/** So many matches are sorted faster than found by walking a million events back in time. */
export const fewEvents = 5_000;

/** Which of the events of a query. */
export type EventPage = {
  readonly limit: number;
  readonly offset: number;
  /** The page begins after this row. */
  readonly after: EventPlace | undefined;
  /** True to find all that match by an index on what is asked for, and sort them. */
  readonly sortsAll: boolean;
};

/** Returns the source of a page of events, the newest first. */
export function pageOf(query: EventQuery, page: EventPage): RowSource {
  const { after, limit, offset } = page;
  return (sql, columns) => {
    // An expression keeps Postgres from walking the index on start times, which it would for rare
    // matches too: it takes any containment to hold for one row in a hundred.
    const startTime = page.sortsAll ? sql`(e.start_time_us + 0)` : sql`e.start_time_us`;
    if (offset === 0) {
      return sql`
        select ${columns}
        from events as e
        where ${matching(sql, query)} ${beyond(sql, after)}
        order by ${startTime} desc, e.event_id desc
        limit ${limit}`;
    }
    // Postgres would read the payloads of the rows that it skips; the ids are in the index.
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

/** Returns how many events there are in all, and the newest start, null for none. */
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

/**
 * Returns how many events there are, at most `countMax`. For conditions that an index finds: walks
 * over the whole project else.
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
