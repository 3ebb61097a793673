// SQL of chunks on their way to a workflow: created from waiting runs, handed to the outbox, found
// when they stand still. Statements name their project, except statements that list projects with
// work, which say so.

import type { Sql } from "../../postgres/database.ts";
import { escapeText, unescapeText } from "../../tracing/events/postgres-text.ts";
import { longestWaiting } from "./waiting-store.ts";
import type { WaitingVersion } from "./queued-store.ts";

/** Counts the open chunks of a project, without those of backfills. */
export async function countOpenChunks(sql: Sql, projectId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count
    from evaluation_chunks
    where project_id = ${projectId} and ended_at is null and backfill_id is null`;
  return row?.count ?? 0;
}

/** Counts the open chunks of every project that has some, without those of backfills. */
export async function countOpenByProject(
  sql: Sql,
): Promise<readonly { readonly projectId: string; readonly count: number }[]> {
  // For all projects: the index contains only the open chunks, which are few.
  return sql<{ projectId: string; count: number }[]>`
    select project_id as "projectId", count(*)::integer as count
    from evaluation_chunks
    where ended_at is null and backfill_id is null
    group by project_id`;
}

/** Open chunks and waiting runs of a version, without those of backfills. */
export type Load = {
  /** Number of open chunks of the evaluator, in any version. */
  readonly open: number;
  /** Time since its last chunk was created; null if there was none. */
  readonly ageMs: number | null;
  /** Number of waiting runs, up to `queuedMax`. */
  readonly queued: number;
};

export async function findLoad(
  sql: Sql,
  { projectId, evaluatorId, version }: WaitingVersion,
  queuedMax: number,
): Promise<Load> {
  const [row] = await sql<Load[]>`
    select
      (select count(*)::integer
        from evaluation_chunks
        where project_id = ${projectId} and evaluator_id = ${evaluatorId}
          and ended_at is null and backfill_id is null) as open,
      (select extract(epoch from clock_timestamp() - created_at)::double precision * 1000
        from evaluation_chunks
        where project_id = ${projectId} and evaluator_id = ${evaluatorId}
        order by created_at desc
        limit 1) as "ageMs",
      (select count(*)::integer
        from (
          select 1
          from scores
          where project_id = ${projectId} and evaluator_id = ${evaluatorId}
            and version = ${version} and state = 'queued'
          limit ${queuedMax}
        ) as waiting) as queued`;
  return row ?? { open: 0, ageMs: null, queued: 0 };
}

/** A chunk and its workflow. */
export type OpenChunk = WaitingVersion & {
  readonly chunkId: string;
  readonly name: string;
  readonly enablement: number;
  readonly workflowId: string;
  readonly events: number;
};

/**
 * Creates a chunk of the longest waiting runs, at most `limit`; returns the number of its events.
 */
export async function claimChunk(
  sql: Sql,
  chunk: Omit<OpenChunk, "events">,
  limit: number,
): Promise<number> {
  const { projectId, chunkId, evaluatorId, version, enablement, workflowId } = chunk;
  // Selected rows are locked and therefore still waiting. Repeating that condition makes Postgres
  // search all waiting rows.
  const [row] = await sql<{ events: number }[]>`
    with claimed as (
      update scores
      set state = 'running', chunk_id = ${chunkId}, enablement = ${enablement}
      where project_id = ${projectId} and evaluator_id = ${evaluatorId} and version = ${version}
        and event_id = any(array(${longestWaiting(sql, chunk, limit)}))
      returning 1
    )
    insert into evaluation_chunks (
      project_id, chunk_id, evaluator_id, evaluator_name, version, enablement, workflow_id, events)
    select
      ${projectId}, ${chunkId}::uuid, ${evaluatorId}::uuid, ${escapeText(chunk.name)},
      ${version}::integer, ${enablement}::integer, ${workflowId}, count(*)
    from claimed
    having count(*) > 0
    returning events`;
  return row?.events ?? 0;
}

/**
 * Deletes at most `limit` chunks of an evaluator that ended long ago, except those of backfills.
 */
export async function deleteOldChunks(
  sql: Sql,
  { projectId, evaluatorId }: Pick<WaitingVersion, "projectId" | "evaluatorId">,
  { ageDays, limit }: { readonly ageDays: number; readonly limit: number },
): Promise<void> {
  await sql`
    delete from evaluation_chunks
    where project_id = ${projectId} and chunk_id = any(array(
      select chunk_id
      from evaluation_chunks
      where project_id = ${projectId} and evaluator_id = ${evaluatorId}
        and created_at < clock_timestamp() - ${ageDays} * interval '1 day'
        and ended_at is not null and backfill_id is null
      order by created_at
      limit ${limit}
    ))`;
}

/** Returns at most `limit` open chunks whose workflow is not in the outbox. */
export async function listUnhanded(sql: Sql, limit: number): Promise<OpenChunk[]> {
  // For all projects: the index contains only the open chunks, which are few.
  const rows = await sql<OpenChunk[]>`
    select
      project_id as "projectId",
      chunk_id as "chunkId",
      evaluator_id as "evaluatorId",
      evaluator_name as name,
      version, enablement, workflow_id as "workflowId", events
    from evaluation_chunks
    where ended_at is null and handed_at is null
    order by created_at
    limit ${limit}`;
  return rows.map((row) => ({ ...row, name: unescapeText(row.name) }));
}

export async function markHanded(sql: Sql, projectId: string, chunkId: string): Promise<void> {
  await sql`
    update evaluation_chunks
    set handed_at = clock_timestamp(), moved_at = clock_timestamp()
    where project_id = ${projectId} and chunk_id = ${chunkId}`;
}

/**
 * Returns at most `limit` open chunks without movement for `stillMs`, without those of backfills.
 */
export async function listStill(
  sql: Sql,
  stillMs: number,
  limit: number,
): Promise<Pick<OpenChunk, "projectId" | "chunkId" | "workflowId">[]> {
  // For all projects, as in listUnhanded.
  return sql<Pick<OpenChunk, "projectId" | "chunkId" | "workflowId">[]>`
    select project_id as "projectId", chunk_id as "chunkId", workflow_id as "workflowId"
    from evaluation_chunks
    where ended_at is null and handed_at is not null and backfill_id is null
      and moved_at < clock_timestamp() - ${stillMs} * interval '1 millisecond'
    order by moved_at
    limit ${limit}`;
}
