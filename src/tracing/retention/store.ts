// SQL of retention: the days in the control database; sessions and reports in the clusters.

import type { ProjectId } from "../../base/ids.ts";
import type { Position } from "../../base/pages.ts";
import type { Fragment, Read, Sql } from "../../postgres/database.ts";
import { isBefore, selectCreatedAtUs } from "../../postgres/keyset.ts";
import { deletedColumns, type DeletedRow, endDeletion } from "../events/store.ts";

export type RetentionRow = {
  readonly projectId: ProjectId;
  readonly days: number;
  readonly updatedAt: Date;
  readonly updatedBy: string;
};

export async function findRetention(
  sql: Sql,
  projectId: string,
): Promise<RetentionRow | undefined> {
  const [row] = await sql<RetentionRow[]>`
    select
      project_id as "projectId", days, updated_at as "updatedAt", updated_by as "updatedBy"
    from retentions
    where project_id = ${projectId}`;
  return row;
}

/** Sets the days of a project; its next run is due at once. */
export async function putRetention(
  sql: Sql,
  projectId: string,
  { days, updatedBy }: Pick<RetentionRow, "days" | "updatedBy">,
): Promise<void> {
  await sql`
    insert into retentions (project_id, days, updated_by)
    values (${projectId}, ${days}, ${updatedBy})
    on conflict (project_id) do update set
      days = excluded.days,
      due_at = clock_timestamp(),
      updated_at = clock_timestamp(),
      updated_by = excluded.updated_by`;
}

export async function deleteRetention(sql: Sql, projectId: string): Promise<void> {
  await sql`delete from retentions where project_id = ${projectId}`;
}

/** Locks projects whose run is due, the longest due first; skips locked ones. */
export async function lockDue(sql: Sql, limit: number): Promise<readonly RetentionRow[]> {
  return sql<RetentionRow[]>`
    -- of all projects
    select
      project_id as "projectId", days, updated_at as "updatedAt", updated_by as "updatedBy"
    from retentions
    where due_at <= clock_timestamp()
    order by due_at, project_id
    limit ${limit}
    for update skip locked`;
}

export async function setDue(sql: Sql, projectId: string, dueAt: Date): Promise<void> {
  await sql`update retentions set due_at = ${dueAt} where project_id = ${projectId}`;
}

/** Place of a session among those of its project, by start and id. */
export type SessionPlace = { readonly startUs: number; readonly sessionId: string };

export type ListedSession = SessionPlace & {
  /** Number of its events by its totals. */
  readonly events: number;
};

/** Sessions that began before a time, after a place, oldest first. */
export async function listSessions(
  sql: Sql,
  projectId: string,
  {
    beforeUs,
    after,
    limit,
  }: {
    readonly beforeUs: number;
    readonly after: SessionPlace | undefined;
    readonly limit: number;
  },
): Promise<readonly ListedSession[]> {
  const isAfter = after
    ? sql`and (start_time_us, event_id) > (${after.startUs}, ${after.sessionId})`
    : sql``;
  return sql<ListedSession[]>`
    with listed as (
      select start_time_us, event_id
      from events
      where project_id = ${projectId} and event_type = 'session' and event_id = session_id
        and start_time_us < ${beforeUs}
        ${isAfter}
      order by start_time_us, event_id
      limit ${limit}
    )
    select
      start_time_us as "startUs", event_id as "sessionId",
      coalesce(totals.num_events, 0)::integer as events
    from listed
    left join session_totals as totals
      on totals.project_id = ${projectId} and totals.session_id = listed.event_id
    order by start_time_us, event_id`;
}

/** A session as it is now: whether it changed shows in `state`. */
export type SessionState = {
  readonly sessionId: string;
  readonly events: number;
  /** Latest start or end of its events. */
  readonly newestUs: number;
  /** Approximate bytes of its events. */
  readonly bytes: number;
  /** Ids and row versions of all events, as a hash. */
  readonly state: string;
};

/** Returns the states of sessions. */
export async function listStates(
  sql: Sql,
  projectId: string,
  sessionIds: readonly string[],
): Promise<readonly SessionState[]> {
  // A row has another xmin after each change.
  return sql<SessionState[]>`
    select
      session_id as "sessionId",
      count(*)::integer as events,
      max(greatest(start_time_us, coalesce(end_time_us, start_time_us))) as "newestUs",
      sum(pg_column_size(inputs) + pg_column_size(outputs) + pg_column_size(metadata)
        + pg_column_size(config) + 500)::bigint as bytes,
      md5(string_agg(event_id || ' ' || xmin::text, ',' order by event_id)) as state
    from events
    where project_id = ${projectId} and session_id = any(${sessionIds}::text[])
      and event_type <> 'pending'
    group by session_id`;
}

/** Counts the sessions whose newest event ended before a time, and their events. */
export async function countOld(
  read: Read,
  projectId: string,
  before: Date,
): Promise<{ readonly sessions: number; readonly events: number }> {
  const beforeUs = before.getTime() * 1_000;
  const [row] = await read(
    (sql) => sql<{ sessions: number; events: number }[]>`
      with old as (
        select count(e.event_id) as events
        from events as s
        join events as e
          on e.project_id = s.project_id and e.session_id = s.event_id
            and e.event_type <> 'pending'
        where s.project_id = ${projectId} and s.event_type = 'session'
          and s.event_id = s.session_id and s.start_time_us < ${beforeUs}
        group by s.event_id
        having max(greatest(e.start_time_us, coalesce(e.end_time_us, e.start_time_us)))
          < ${beforeUs}
      )
      select count(*)::integer as sessions, coalesce(sum(events), 0)::integer as events from old`,
  );
  return row ?? { sessions: 0, events: 0 };
}

/**
 * Locks sessions in the order of every writer: their events, then their totals, without which no
 * writer adds an event.
 */
export async function lockSessions(
  sql: Sql,
  projectId: string,
  sessionIds: readonly string[],
): Promise<void> {
  await sql`
    with locked as materialized (
      select 1
      from events
      where project_id = ${projectId} and session_id = any(${sessionIds}::text[])
        and event_type <> 'pending'
      order by event_id
      for update)
    select count(*) from locked`;
  await sql`
    with locked as materialized (
      select 1
      from session_totals
      where project_id = ${projectId} and session_id = any(${sessionIds}::text[])
      order by session_id
      for update)
    select count(*) from locked`;
}

/** Numbers of deleted rows. */
export type Deleted = {
  readonly sessions: number;
  readonly events: number;
  readonly scores: number;
  readonly annotationItems: number;
  readonly annotationScores: number;
  readonly feedback: number;
};

/** Deletes locked sessions with all dependent rows, and counts the rows. */
export async function deleteSessions(
  sql: Sql,
  projectId: string,
  sessionIds: readonly string[],
): Promise<Deleted> {
  const ids = sql`array(
    select event_id from events
    where project_id = ${projectId} and session_id = any(${sessionIds}::text[])
      and event_type <> 'pending')`;
  const countOf = (table: string) => sql`
    (select count(*)::integer from ${sql(table)}
      where project_id = ${projectId} and event_id = any(${ids}))`;
  const [counts] = await sql<Omit<Deleted, "sessions" | "events" | "feedback">[]>`
    select
      ${countOf("scores")} as scores,
      ${countOf("annotation_items")} as "annotationItems",
      ${countOf("annotation_scores")} as "annotationScores"`;
  const { count: feedback } = await sql`
    delete from feedback where project_id = ${projectId} and generation_id = any(${ids})`;
  const deleted = await sql<DeletedRow[]>`
    delete from events
    where project_id = ${projectId} and session_id = any(${sessionIds}::text[])
      and event_type <> 'pending'
    returning ${deletedColumns(sql)}`;
  await endDeletion(sql, projectId, deleted);
  await sql`
    delete from session_totals
    where project_id = ${projectId} and session_id = any(${sessionIds}::text[])`;
  const none = { scores: 0, annotationItems: 0, annotationScores: 0 };
  const events = deleted.length;
  return { ...none, ...counts, sessions: sessionIds.length, events, feedback };
}

export type RunRow = Deleted & {
  /** Number of deleted updates that waited for an event. */
  readonly updates: number;
  readonly id: string;
  readonly projectId: ProjectId;
  readonly state: "running" | "completed";
  readonly cutoff: Date;
  readonly afterUs: number | null;
  readonly afterId: string | null;
  readonly batches: number;
  readonly skippedSessions: number;
  readonly files: readonly string[];
  /** Fault of the last try of the next batch; null if there was none. */
  readonly error: string | null;
  readonly createdAt: Date;
  readonly createdAtUs: number;
  readonly endedAt: Date | null;
};

function selectRuns(sql: Sql): Fragment {
  return sql`
    select
      run_id as id, project_id as "projectId", state, cutoff, after_us as "afterUs",
      after_id as "afterId", batches, sessions, events, scores,
      annotation_items as "annotationItems", annotation_scores as "annotationScores", feedback,
      updates, skipped_sessions as "skippedSessions", files, error, created_at as "createdAt",
      ended_at as "endedAt", ${selectCreatedAtUs(sql, "created_at")}
    from retention_runs`;
}

/** Inserts a run unless it is there. */
export async function insertRun(
  sql: Sql,
  { id, projectId, cutoff }: Pick<RunRow, "id" | "projectId" | "cutoff">,
): Promise<void> {
  await sql`
    insert into retention_runs (run_id, project_id, state, cutoff)
    values (${id}, ${projectId}, 'running', ${cutoff})
    on conflict do nothing`;
}

export async function findRun(
  sql: Sql,
  projectId: string,
  id: string,
): Promise<RunRow | undefined> {
  const [row] = await sql<RunRow[]>`
    ${selectRuns(sql)} where project_id = ${projectId} and run_id = ${id}`;
  return row;
}

/** Returns whether a project has a newer run. */
export async function hasNewerRun(
  sql: Sql,
  { projectId, id }: Pick<RunRow, "projectId" | "id">,
): Promise<boolean> {
  const [newer] = await sql`
    select 1
    from retention_runs as run
    join retention_runs as newer
      on newer.project_id = run.project_id
        and (newer.created_at, newer.run_id) > (run.created_at, run.run_id)
    where run.project_id = ${projectId} and run.run_id = ${id}
    limit 1`;
  return newer !== undefined;
}

/** Returns the runs of a project, newest first. */
export async function listRuns(
  sql: Sql,
  projectId: string,
  { limit, after }: { readonly limit: number; readonly after: Position | undefined },
): Promise<readonly RunRow[]> {
  return sql<RunRow[]>`
    ${selectRuns(sql)}
    where project_id = ${projectId} and ${isBefore(sql, ["created_at", "run_id"], after)}
    order by created_at desc, run_id desc
    limit ${limit}`;
}

export type Batch = {
  readonly deleted: Deleted;
  readonly skipped: number;
  readonly file: string | undefined;
  readonly after: SessionPlace;
};

/** Adds a batch to the report of a run. */
export async function addBatch(
  sql: Sql,
  { projectId, id }: Pick<RunRow, "projectId" | "id">,
  { deleted, skipped, file, after }: Batch,
): Promise<void> {
  await sql`
    update retention_runs
    set after_us = ${after.startUs},
      after_id = ${after.sessionId},
      batches = batches + 1,
      sessions = sessions + ${deleted.sessions},
      events = events + ${deleted.events},
      scores = scores + ${deleted.scores},
      annotation_items = annotation_items + ${deleted.annotationItems},
      annotation_scores = annotation_scores + ${deleted.annotationScores},
      feedback = feedback + ${deleted.feedback},
      skipped_sessions = skipped_sessions + ${skipped},
      files = files || ${file === undefined ? [] : [file]}::text[],
      error = null
    where project_id = ${projectId} and run_id = ${id}`;
}

/** Notes why the next batch of a run could not be written. */
export async function setError(
  sql: Sql,
  { projectId, id }: Pick<RunRow, "projectId" | "id">,
  error: string,
): Promise<void> {
  await sql`
    update retention_runs set error = ${error}
    where project_id = ${projectId} and run_id = ${id} and state = 'running'`;
}

export async function endRun(sql: Sql, projectId: string, id: string): Promise<void> {
  await sql`
    update retention_runs set state = 'completed', ended_at = statement_timestamp()
    where project_id = ${projectId} and run_id = ${id} and state = 'running'`;
}
