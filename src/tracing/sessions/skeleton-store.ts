// SQL of the skeleton of a session: its events without payloads, by start time, in pages.

import { skeletonTextLengthMax } from "../../base/limits.ts";
import type { Fragment, Read, Sql } from "../../postgres/database.ts";
import { escapeText, unescapeOrNull, unescapeText } from "../events/postgres-text.ts";
import type { EventPlace } from "../export/place-store.ts";
import { amountKeys, amountLengthMax } from "./totals.ts";

/** An event without its payload. Texts are cut and in clear; times are Unix milliseconds. */
export type SkeletonEvent = {
  readonly event_id: string;
  /** As sent; null if the sender named none. */
  readonly parent_id: string | null;
  readonly event_type: string;
  readonly event_name: string;
  readonly error: string | null;
  readonly start_time: number;
  readonly end_time: number | null;
  readonly duration: number | null;
  readonly model: string | null;
  /** Amounts in the event's metadata, as JSON. */
  readonly amounts: string;
  readonly estimated_cost: number | null;
  readonly has_feedback: boolean;
  readonly has_metrics: boolean;
  /** Place of the event, for the cursor. */
  readonly startTimeUs: number;
};

type SkeletonRow = Omit<SkeletonEvent, "start_time" | "end_time" | "startTimeUs"> & {
  readonly start_time_us: number;
  readonly end_time_us: number | null;
};

export type SkeletonPage = {
  readonly projectId: string;
  readonly sessionId: string;
  readonly after: EventPlace | undefined;
  readonly limit: number;
};

/** Returns events of a session after a place, by start time, without the session itself. */
export async function listSkeleton(
  read: Read,
  { projectId, sessionId, after, limit }: SkeletonPage,
): Promise<readonly SkeletonEvent[]> {
  const id = escapeText(sessionId);
  const rows = await read(
    (sql) => sql<SkeletonRow[]>`
      select ${skeletonColumns(sql)}
      from events as e
      where e.project_id = ${projectId} and e.session_id = ${id}
        and e.event_id <> ${id} and e.event_type <> 'pending'
        ${
          after === undefined
            ? sql``
            : sql`and (e.start_time_us, e.event_id)
                > (${after.startTimeUs}, ${escapeText(after.eventId)})`
        }
      order by e.start_time_us, e.event_id
      limit ${limit}`,
  );
  return rows.map(toSkeletonEvent);
}

/** Returns the session's own event; undefined if there is none. */
export async function findSkeleton(
  read: Read,
  projectId: string,
  sessionId: string,
): Promise<SkeletonEvent | undefined> {
  const id = escapeText(sessionId);
  const [row] = await read(
    (sql) => sql<SkeletonRow[]>`
      select ${skeletonColumns(sql)}
      from events as e
      where e.project_id = ${projectId} and e.event_id = ${id} and e.session_id = ${id}
        and e.event_type = 'session'`,
  );
  return row && toSkeletonEvent(row);
}

/** Returns, by event id, the events of a session that list some events as their children. */
export async function findListingParents(
  read: Read,
  projectId: string,
  sessionId: string,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await read(
    (sql) => sql<{ child: string; parent: string }[]>`
      select listed.child, min(e.event_id) as parent
      from events as e
      cross join lateral unnest(e.children_ids) as listed (child)
      where e.project_id = ${projectId} and e.session_id = ${escapeText(sessionId)}
        and e.event_type <> 'pending' and e.children_ids <> '{}'
        and listed.child = any(${eventIds.map(escapeText)}) and listed.child <> e.event_id
      group by listed.child`,
  );
  return new Map(rows.map(({ child, parent }) => [unescapeText(child), unescapeText(parent)]));
}

function skeletonColumns(sql: Sql): Fragment {
  return sql`
    e.event_id, e.parent_id, e.event_type,
    left(e.event_name, ${skeletonTextLengthMax}) as event_name,
    left(e.error, ${skeletonTextLengthMax}) as error,
    e.start_time_us, e.end_time_us, e.duration_ms as duration, e.model,
    ${amountsIn(sql)} as amounts,
    case when jsonb_typeof(e.cost_estimate -> 'cost') = 'number'
      then (e.cost_estimate -> 'cost')::double precision end as estimated_cost,
    e.feedback <> '{}' as has_feedback, e.metrics <> '{}' as has_metrics`;
}

/** Returns the amounts of an event's metadata as JSON; a value too large for one is left out. */
function amountsIn(sql: Sql): Fragment {
  let pairs = sql``;
  for (const [at, key] of amountKeys.entries()) {
    const value = sql`e.metadata -> ${key}::text`;
    pairs = sql`${pairs}${at === 0 ? sql`` : sql`,`} ${key}::text,
      case when pg_column_size(${value}) <= ${2 * amountLengthMax} then ${value} end`;
  }
  return sql`jsonb_strip_nulls(jsonb_build_object(${pairs}))::text`;
}

function toSkeletonEvent({ start_time_us, end_time_us, ...row }: SkeletonRow): SkeletonEvent {
  return {
    ...row,
    event_id: unescapeText(row.event_id),
    parent_id: unescapeOrNull(row.parent_id),
    event_name: unescapeText(row.event_name),
    error: unescapeOrNull(row.error),
    model: unescapeOrNull(row.model),
    start_time: start_time_us / 1000,
    end_time: end_time_us === null ? null : end_time_us / 1000,
    startTimeUs: start_time_us,
  };
}
