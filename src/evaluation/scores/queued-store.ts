// SQL of waiting runs: created for routed events, and removed again if they are of an earlier
// version. Statements name their project, except the one that lists versions with work.

import type { ProjectId } from "../../base/ids.ts";
import type { Sql } from "../../postgres/database.ts";
import { escapeText, unescapeText } from "../../tracing/events/postgres-text.ts";
import { longestWaiting } from "./waiting-store.ts";
import type { QueuedEvent } from "../online/queue-store.ts";

/** A version to queue runs of. */
export type QueuedVersion = {
  readonly projectId: string;
  readonly evaluatorId: string;
  readonly version: number;
  readonly enablement: number;
};

/**
 * Queues runs of a version on events, unless the evaluator has run on them in any version or the
 * event was deleted meanwhile. Returns the number.
 */
export async function insertQueuedRuns(
  sql: Sql,
  { projectId, evaluatorId, version, enablement }: QueuedVersion,
  events: readonly QueuedEvent[],
): Promise<number> {
  const ids = events.map(({ eventId }) => escapeText(eventId));
  const times = events.map(({ queuedAt }) => queuedAt.toISOString());
  // Locks the events in the order of every writer, so that none is deleted before its run is
  // stored. `lateral` makes Postgres look up each by its key; a join sometimes compares all with
  // all.
  const { count } = await sql`
    insert into scores (
      project_id, event_id, evaluator_id, version, state, enablement, queued_at)
    select
      ${projectId}, held.event_id, ${evaluatorId}::uuid, ${version}::integer, 'queued',
      ${enablement}::integer, incoming.queued_at
    from (
      select event_id, queued_at
      from unnest(${ids}::text[], ${times}::timestamptz[]) as given (event_id, queued_at)
      order by event_id
    ) as incoming
    cross join lateral (
      select events.event_id
      from events
      where events.project_id = ${projectId} and events.event_id = incoming.event_id
      for key share
    ) as held
    left join lateral (
      select true as has_run
      from scores
      where scores.project_id = ${projectId} and scores.event_id = incoming.event_id
        and scores.evaluator_id = ${evaluatorId}
      limit 1
    ) as earlier on true
    where earlier.has_run is null
    on conflict (project_id, event_id, evaluator_id, version) do nothing`;
  return count;
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
    with recursive waiting (project_id, evaluator_id, version, since) as (
      (select project_id, evaluator_id, version, queued_at
        from scores
        where state = 'queued' and project_id > ${afterId}
        order by project_id, evaluator_id, version, queued_at
        limit 1)
      union all
      select later.project_id, later.evaluator_id, later.version, later.queued_at
      from waiting
      cross join lateral (
        select scores.project_id, scores.evaluator_id, scores.version, scores.queued_at
        from scores
        where scores.state = 'queued'
          and (scores.project_id, scores.evaluator_id, scores.version)
            > (waiting.project_id, waiting.evaluator_id, waiting.version)
        order by scores.project_id, scores.evaluator_id, scores.version, scores.queued_at
        limit 1
      ) as later
    )
    select project_id as "projectId", evaluator_id as "evaluatorId", version, since
    from waiting
    limit ${limit}`;
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
