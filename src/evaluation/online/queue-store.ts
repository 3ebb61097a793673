// SQL of the evaluation queue: written events that evaluators have not seen. Statements name their
// project, except statements that list projects with work, which say so.

import type { ProjectId } from "../../base/ids.ts";
import type { Sql } from "../../postgres/database.ts";
import { escapeText, unescapeText } from "../../tracing/events/postgres-text.ts";
import type { QueuedRow } from "../../tracing/events/write-set.ts";
import type { QueuedEvent } from "../scores/scores.ts";

/** Events of one commit. */
export type QueueRow = {
  readonly projectId: string;
  readonly queueId: string;
  readonly eventIds: readonly string[];
  /** Time since which they wait; absent for now. */
  readonly queuedAt?: Date;
};

/** Returns a row for the statement of a commit (migration 0030). */
export function toQueuedRow({ projectId, queueId, eventIds }: QueueRow): QueuedRow {
  return { project_id: projectId, queue_id: queueId, event_ids: eventIds.map(escapeText) };
}

/** Adds rows to the queue. */
export async function insertQueueRows(sql: Sql, rows: readonly QueueRow[]): Promise<void> {
  const incoming = rows.map((row) => ({ ...toQueuedRow(row), queued_at: row.queuedAt ?? null }));
  await sql`
    insert into evaluation_queue (project_id, queue_id, event_ids, queued_at)
    select project_id, queue_id, event_ids, coalesce(queued_at, clock_timestamp())
    from jsonb_to_recordset(${JSON.stringify(incoming)}::text::jsonb) as incoming (
      project_id uuid, queue_id uuid, event_ids text[], queued_at timestamptz)`;
}

/** Returns at most `limit` projects with rows in the queue, after `afterId`, ordered by id. */
export async function listQueuedProjects(
  sql: Sql,
  afterId: string,
  limit: number,
): Promise<ProjectId[]> {
  // For all projects, to find those with work. The function takes one index step per project,
  // however long the queue is.
  const rows = await sql<{ project_id: ProjectId }[]>`
    select project_id from list_queued_projects(${afterId}, ${limit}) as project_id`;
  return rows.map((row) => row.project_id);
}

/**
 * Locks a project's queue against other workers until the transaction ends; returns false if it is
 * locked. Running work is then counted and extended by one worker at a time.
 */
export async function lockProject(sql: Sql, projectId: string): Promise<boolean> {
  const [row] = await sql<{ locked: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(
      'evaluation of ' || ${projectId}::text, 0)) as locked`;
  return row?.locked ?? false;
}

/**
 * Limits the time of the transaction's following statements; undefined restores the usual limit.
 */
export async function limitStatements(sql: Sql, timeoutMs: number | undefined): Promise<void> {
  if (timeoutMs === undefined) await sql`set local statement_timeout to default`;
  else await sql`select set_config('statement_timeout', ${String(timeoutMs)}, true)`;
}

/** Takes the oldest rows of a project off the queue, until they have `eventsMax` events or more. */
export async function takeQueueRows(
  sql: Sql,
  projectId: string,
  { rowsMax, eventsMax }: { readonly rowsMax: number; readonly eventsMax: number },
): Promise<QueuedEvent[]> {
  const rows = await sql<{ event_ids: string[]; queued_at: Date }[]>`
    with oldest as (
      select queue_id, cardinality(event_ids) as events
      from evaluation_queue
      where project_id = ${projectId}
      order by queue_id
      limit ${rowsMax}
    ),
    summed as (
      select queue_id, sum(events) over (order by queue_id) - events as before
      from oldest
    )
    delete from evaluation_queue
    where project_id = ${projectId} and queue_id = any(array(
      select queue_id
      from summed
      where before < ${eventsMax}
    ))
    returning event_ids, queued_at`;
  return rows
    .toSorted((a, b) => a.queued_at.getTime() - b.queued_at.getTime())
    .flatMap(({ event_ids: ids, queued_at: queuedAt }) =>
      ids.map((id) => ({ eventId: unescapeText(id), queuedAt })),
    );
}

/** Deletes at most `limit` rows of a project's queue; returns the number. */
export async function deleteQueueRows(sql: Sql, projectId: string, limit: number): Promise<number> {
  const { count } = await sql`
    delete from evaluation_queue
    where project_id = ${projectId} and queue_id = any(array(
      select queue_id
      from evaluation_queue
      where project_id = ${projectId}
      order by queue_id
      limit ${limit}
    ))`;
  return count;
}

/** Returns the number of waiting events of all projects, and the time of the oldest. */
export async function sumWaiting(
  sql: Sql,
): Promise<{ readonly count: number; readonly oldest: Date | null }> {
  const [row] = await sql<{ count: number; oldest: Date | null }[]>`
    -- of all projects
    select coalesce(sum(cardinality(event_ids)), 0)::integer as count, min(queued_at) as oldest
    from evaluation_queue`;
  return row ?? { count: 0, oldest: null };
}

/** Maximum waiting commits to search for an event, the latest ones; older ones are not searched. */
const commitsSearchedMax = 10_000;

/** Returns the time since which an event waits to be routed; undefined if it does not wait. */
export async function findWaitingSince(
  sql: Sql,
  projectId: string,
  eventId: string,
): Promise<Date | undefined> {
  const [row] = await sql<{ since: Date | null }[]>`
    select min(queued_at) as since
    from (
      select queued_at, event_ids
      from evaluation_queue
      where project_id = ${projectId}
      order by queue_id desc
      limit ${commitsSearchedMax}
    ) as waiting
    where event_ids @> array[${escapeText(eventId)}]::text[]`;
  return row?.since ?? undefined;
}

/** Returns how many of the events wait to be routed. */
export async function countWaiting(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(distinct event_id)::integer as count
    from evaluation_queue, unnest(event_ids) as queued (event_id)
    where project_id = ${projectId}
      and event_id = any(${eventIds.map(escapeText)}::text[])`;
  return row?.count ?? 0;
}
