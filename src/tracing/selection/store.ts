// Tests which of given events meet conditions, and counts matches. Every statement names its
// project and skips waiting updates (`pending`).

import type { Read } from "../../postgres/database.ts";
import { escapeText, unescapeText } from "../events/postgres-text.ts";
import type { Condition } from "../export/condition.ts";
import { conditionsSql } from "../export/filter-sql.ts";
import { type EventQuery, matching } from "../export/place-store.ts";

/** Returns the ids whose events meet all conditions. */
export async function listMatching(
  read: Read,
  projectId: string,
  eventIds: readonly string[],
  conditions: readonly Condition[],
): Promise<string[]> {
  // `limit` inside `lateral` makes Postgres look up each id by its key. Otherwise it sometimes
  // finds all events that meet some condition and compares their ids with these.
  const rows = await read(
    (sql) => sql<{ event_id: string }[]>`
      select wanted.event_id
      from unnest(${eventIds.map(escapeText)}::text[]) as wanted (event_id)
      cross join lateral (
        select true
        from events as e
        where e.project_id = ${projectId} and e.event_id = wanted.event_id
          and e.event_type <> 'pending' ${conditionsSql(sql, conditions)}
        limit 1
      ) as found`,
  );
  return rows.map((row) => unescapeText(row.event_id));
}

/** Counts the events that meet the conditions. */
export async function countEvents(read: Read, query: EventQuery): Promise<number> {
  const [row] = await read(
    (sql) => sql<{ count: number }[]>`
      select count(*)::integer as count
      from events as e
      where ${matching(sql, query)}`,
  );
  return row?.count ?? 0;
}

/**
 * Returns, for each condition in order, whether the event meets it; undefined if the event does not
 * exist.
 */
export async function testEvent(
  read: Read,
  projectId: string,
  eventId: string,
  conditions: readonly Condition[],
): Promise<boolean[] | undefined> {
  const [row] = await read((sql) => {
    const tests = conditions
      .map((condition) => sql`(true ${conditionsSql(sql, [condition])}) is true`)
      .reduce((left, right) => sql`${left}, ${right}`, sql`true`);
    return sql<{ holds: boolean[] }[]>`
      select array[${tests}] as holds
      from events as e
      where e.project_id = ${projectId} and e.event_id = ${escapeText(eventId)}
        and e.event_type <> 'pending'`;
  });
  // Drops the leading `true`, which is there because an empty array has no type.
  return row?.holds.slice(1);
}
