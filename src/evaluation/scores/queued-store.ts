// SQL of waiting runs: created for routed events, counted, and removed again if they are of an
// earlier version. Statements name their project, except those over all projects, which say so.

import type { ProjectId } from "../../base/ids.ts";
import type { Fragment, Sql } from "../../postgres/database.ts";
import { escapeText, unescapeText } from "../../tracing/events/postgres-text.ts";

/** An event with the time since which it waits for evaluators. */
export type QueuedEvent = { readonly eventId: string; readonly queuedAt: Date };

/** A version to queue runs of. */
export type QueuedVersion = {
  readonly projectId: string;
  readonly evaluatorId: string;
  readonly version: number;
  readonly enablement: number;
};

/**
 * Queues runs of a version on events, which are held, unless the evaluator has run on them in any
 * version.
 */
export async function insertQueuedRuns(
  sql: Sql,
  { projectId, evaluatorId, version, enablement }: QueuedVersion,
  events: readonly QueuedEvent[],
): Promise<void> {
  const ids = events.map(({ eventId }) => escapeText(eventId));
  const times = events.map(({ queuedAt }) => queuedAt.toISOString());
  // `lateral` makes Postgres look up each run by its key; a join sometimes compares all with all.
  await sql`
    insert into scores (
      project_id, event_id, evaluator_id, version, state, enablement, queued_at)
    select
      ${projectId}::uuid, incoming.event_id, ${evaluatorId}::uuid, ${version}::integer, 'queued',
      ${enablement}::integer, incoming.queued_at
    from unnest(${ids}::text[], ${times}::timestamptz[]) as incoming (event_id, queued_at)
    left join lateral (
      select true as has_run
      from scores
      where scores.project_id = ${projectId} and scores.event_id = incoming.event_id
        and scores.evaluator_id = ${evaluatorId}
      limit 1
    ) as earlier on true
    where earlier.has_run is null
    order by incoming.event_id
    on conflict (project_id, event_id, evaluator_id, version) do nothing`;
}

/** A version with waiting runs. */
export type WaitingVersion = {
  readonly projectId: ProjectId;
  readonly evaluatorId: string;
  readonly version: number;
};

/** A version with the time of its oldest waiting run. */
export type WaitingSince = WaitingVersion & { readonly since: Date };

/** Returns at most `limit` versions with waiting runs, in projects after `afterId`. */
export async function listWaitingVersions(
  sql: Sql,
  afterId: string,
  limit: number,
): Promise<WaitingSince[]> {
  // For all projects, as in listQueuedProjects: one index step per version, to its longest waiting
  // run.
  return sql<WaitingSince[]>`
    select project as "projectId", evaluator as "evaluatorId", number as version, since
    from list_waiting_versions(${afterId}, ${limit})`;
}

/** Takes at most `limit` runs of a version off the queue, and returns their events. */
export async function takeQueuedRuns(
  sql: Sql,
  waiting: WaitingVersion,
  limit: number,
): Promise<QueuedEvent[]> {
  const { projectId, evaluatorId, version } = waiting;
  const rows = await sql<{ event_id: string; queued_at: Date }[]>`
    delete from scores
    where project_id = ${projectId} and evaluator_id = ${evaluatorId} and version = ${version}
      and event_id = any(array(${longestWaiting(sql, waiting, limit)}))
    returning event_id, queued_at`;
  return rows.map((row) => ({
    eventId: unescapeText(row.event_id),
    queuedAt: row.queued_at,
  }));
}

/** Selects and locks the events of at most `limit` runs; skips runs that others have locked. */
export function longestWaiting(
  sql: Sql,
  version: Omit<WaitingVersion, "projectId"> & { readonly projectId: string },
  limit: number | Fragment,
): Fragment {
  return sql`
    select event_id
    from scores
    where project_id = ${version.projectId} and evaluator_id = ${version.evaluatorId}
      and version = ${version.version} and state = 'queued'
    order by queued_at
    limit ${limit}
    for update skip locked`;
}

/** Maximum of a count; larger counts stop there. */
const countedMax = 1_000_000;

/** Returns the number of waiting runs of all projects, and the time of the oldest. */
export async function sumQueued(
  sql: Sql,
): Promise<{ readonly count: number; readonly oldest: Date | null }> {
  const [row] = await sql<{ count: number; oldest: Date | null }[]>`
    -- of all projects
    select count(*)::integer as count, min(queued_at) as oldest
    from (select queued_at from scores where state = 'queued' limit ${countedMax}) as waiting`;
  return row ?? { count: 0, oldest: null };
}

/** Deletes at most `limit` waiting runs of an evaluator; returns the number. */
export async function deleteQueued(
  sql: Sql,
  projectId: string,
  evaluatorId: string,
  limit: number,
): Promise<number> {
  const { count } = await sql`
    delete from scores
    where project_id = ${projectId} and evaluator_id = ${evaluatorId} and state = 'queued'
      and (event_id, version) in (
        select event_id, version
        from scores
        where project_id = ${projectId} and evaluator_id = ${evaluatorId} and state = 'queued'
        limit ${limit}
        for update skip locked
      )`;
  return count;
}

/**
 * Returns the number of waiting runs of an evaluator, the oldest time among them, and the number of
 * running ones.
 */
export async function countWaiting(
  sql: Sql,
  projectId: string,
  evaluatorId: string,
): Promise<{ queued: number; running: number; oldest_queued_at: Date | null }> {
  const [row] = await sql<{ queued: number; running: number; oldest_queued_at: Date | null }[]>`
    select
      (select count(*)::integer from (
        select 1
        from scores
        where project_id = ${projectId} and evaluator_id = ${evaluatorId} and state = 'queued'
        limit ${countedMax}) as waiting) as queued,
      (select min(queued_at)
        from scores
        where project_id = ${projectId} and evaluator_id = ${evaluatorId} and state = 'queued')
        as oldest_queued_at,
      (select count(*)::integer
        from scores
        where project_id = ${projectId} and evaluator_id = ${evaluatorId} and state = 'running')
        as running`;
  return row ?? { queued: 0, running: 0, oldest_queued_at: null };
}
