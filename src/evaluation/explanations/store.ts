// SQL of explanations: what of an event decides whether evaluators run on it. In the project's
// cluster. Called by explanations.ts.

import type { Sql } from "../../postgres/database.ts";
import { escapeText, unescapeText } from "../../tracing/events/postgres-text.ts";

export type EventFacts = {
  readonly source: string;
  /** When it was put up to be looked at for the first time of those that wait. */
  readonly waitsSince: Date | null;
};

/** So many commits that wait are searched for an event; behind them nobody knows yet. */
const commitsSearchedMax = 10_000;

/** Returns what is known of an event without reading its payload; undefined when there is none. */
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
