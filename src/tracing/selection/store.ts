// Which of some events meet conditions, and how many do, in Postgres. Every statement names its
// project and leaves waiting updates (`pending`) out.

import type { Read } from "../../postgres/database.ts";
import { escapeText, unescapeText } from "../events/postgres-text.ts";
import type { Condition } from "../export/condition.ts";
import { conditionsSql } from "../export/filter-sql.ts";
import { type EventQuery, matching } from "../export/place-store.ts";

/** Returns those of the ids whose events meet all conditions. */
export async function listMatching(
  read: Read,
  projectId: string,
  eventIds: readonly string[],
  conditions: readonly Condition[],
): Promise<string[]> {
  // Each is looked up by its key, as `limit` makes Postgres do inside `lateral`: it would at times
  // find all that meet some condition, and compare their ids with these.
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

/** Returns which of the conditions an event meets, in their order; undefined without the event. */
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
  // The first stands for none, since an array of nothing has no type.
  return row?.holds.slice(1);
}
