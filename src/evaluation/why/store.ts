// SQL of explanations, in the project's cluster: the facts about an event that decide whether
// evaluators run on it.

import type { Sql } from "../../postgres/database.ts";
import { escapeText, unescapeText } from "../../tracing/events/postgres-text.ts";

export type EventFacts = {
  readonly source: string;
  /** Time when the event was queued for routing, the earliest of the waiting entries. */
  readonly waitsSince: Date | null;
};

/** Maximum waiting commits to search for an event, the latest ones; older ones are not searched. */
const commitsSearchedMax = 10_000;

/** Returns the facts about an event without reading its payload; undefined if it does not exist. */
export async function findEvent(
  sql: Sql,
  projectId: string,
  eventId: string,
): Promise<EventFacts | undefined> {
  const id = escapeText(eventId);
  const [row] = await sql<EventFacts[]>`
    select source, (
      select min(queued_at)
      from (
        select queued_at, event_ids
        from evaluation_queue
        where project_id = ${projectId}
        order by queue_id desc
        limit ${commitsSearchedMax}
      ) as waiting
      where event_ids @> array[${id}]::text[]
    ) as "waitsSince"
    from events
    where project_id = ${projectId} and event_id = ${id} and event_type <> 'pending'`;
  return row && { ...row, source: unescapeText(row.source) };
}
