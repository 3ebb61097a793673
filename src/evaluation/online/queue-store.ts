// SQL of the evaluation queue: events that were written and have to be looked at. Statements name
// their project, but for those that find out which projects have work, which say so.

import type { ProjectId } from "../../base/ids.ts";
import type { Sql } from "../../postgres/database.ts";
import { escapeText, unescapeText } from "../../tracing/events/postgres-text.ts";

/** Events of one commit. */
export type QueueRow = {
  readonly projectId: string;
  readonly queueId: string;
  readonly eventIds: readonly string[];
  /** Since when they wait; absent for now. */
  readonly queuedAt?: Date;
};

/** Adds rows to the queue. */
export async function insertQueueRows(sql: Sql, rows: readonly QueueRow[]): Promise<void> {
  const incoming = rows.map((row) => ({
    project_id: row.projectId,
    queue_id: row.queueId,
    event_ids: row.eventIds.map(escapeText),
    queued_at: row.queuedAt ?? null,
  }));
  await sql`
    insert into evaluation_queue (project_id, queue_id, event_ids, queued_at)
    select project_id, queue_id, event_ids, coalesce(queued_at, clock_timestamp())
    from jsonb_to_recordset(${JSON.stringify(incoming)}::text::jsonb) as incoming (
      project_id uuid, queue_id uuid, event_ids text[], queued_at timestamptz)`;
}

/** Returns at most `limit` projects that have rows in the queue, after one, in order of id. */
export async function listQueuedProjects(
  sql: Sql,
  afterId: string,
  limit: number,
): Promise<ProjectId[]> {
  // Of all projects, since it is to be found out whose turn it is: a step in the index each,
  // however long the queue is.
  const rows = await sql<{ project_id: ProjectId }[]>`
    with recursive waiting (project_id) as (
      (select project_id
        from evaluation_queue
        where project_id > ${afterId}
        order by project_id
        limit 1)
      union all
      select (
        select later.project_id
        from evaluation_queue as later
        where later.project_id > waiting.project_id
        order by later.project_id
        limit 1)
      from waiting
      where waiting.project_id is not null
    )
    select project_id
    from waiting
    where project_id is not null
    limit ${limit}`;
  return rows.map((row) => row.project_id);
}

/**
 * Keeps other workers off a project's queue until the transaction ends; false when one is at it.
 * What is in flight is then counted and added to by one at a time.
 */
export async function lockProject(sql: Sql, projectId: string): Promise<boolean> {
  const [row] = await sql<{ locked: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(
      'evaluation of ' || ${projectId}::text, 0)) as locked`;
  return row?.locked ?? false;
}

/** Limits the statements that follow in a transaction; undefined brings the usual limit back. */
export async function limitStatements(sql: Sql, timeoutMs: number | undefined): Promise<void> {
  if (timeoutMs === undefined) await sql`set local statement_timeout to default`;
  else await sql`select set_config('statement_timeout', ${String(timeoutMs)}, true)`;
}

/** An event that is to be looked at. */
export type QueuedEvent = { readonly eventId: string; readonly queuedAt: Date };

/** Takes the oldest rows of a project off the queue: rows while they have less than `eventsMax`. */
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

/** Empties the queue of a project, at most `limit` rows of it; returns how many. */
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

/** More than any operator would wait for to go; past it a count stands still. */
const countedMax = 1_000_000;

/** Returns how many events wait to be looked at and how many runs wait, and the oldest's age. */
export async function sumWaiting(
  sql: Sql,
): Promise<{ readonly events: number; readonly runs: number; readonly ageSeconds: number }> {
  const [row] = await sql<{ events: number; runs: number; ageSeconds: number }[]>`
    -- of all projects
    select
      queue.events,
      runs.count as runs,
      coalesce(extract(epoch from clock_timestamp() - least(queue.oldest, runs.oldest)), 0)
        ::double precision as "ageSeconds"
    from (
      select coalesce(sum(cardinality(event_ids)), 0)::integer as events, min(queued_at) as oldest
      from evaluation_queue
    ) as queue
    cross join (
      select count(*)::integer as count, min(queued_at) as oldest
      from (select queued_at from scores where state = 'queued' limit ${countedMax}) as waiting
    ) as runs`;
  return row ?? { events: 0, runs: 0, ageSeconds: 0 };
}
