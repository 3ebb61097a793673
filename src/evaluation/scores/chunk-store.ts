// SQL of chunks: created from waiting runs or for a backfill, given to a workflow, counted, ended.
// Statements name their project, except those that list chunks of all projects, which say so.

import type { Sql } from "../../postgres/database.ts";
import { escapeText, unescapeText } from "../../tracing/events/postgres-text.ts";
import { longestWaiting, type WaitingVersion } from "./queued-store.ts";

/** A chunk to create for a backfill. */
export type ChunkRow = {
  readonly projectId: string;
  readonly chunkId: string;
  readonly evaluatorId: string;
  readonly name: string;
  readonly version: number;
  readonly enablement: number;
  readonly backfillId: string;
  readonly workflowId: string;
};

/** Creates a chunk without events; returns false if its id exists. */
export async function insertChunk(sql: Sql, chunk: ChunkRow): Promise<boolean> {
  const { count } = await sql`
    insert into evaluation_chunks (
      project_id, chunk_id, evaluator_id, evaluator_name, version, enablement, backfill_id,
      workflow_id, events, handed_at)
    values (
      ${chunk.projectId}, ${chunk.chunkId}, ${chunk.evaluatorId}, ${escapeText(chunk.name)},
      ${chunk.version}, ${chunk.enablement}, ${chunk.backfillId}, ${chunk.workflowId}, 0,
      statement_timestamp()
    )
    on conflict (project_id, chunk_id) do nothing`;
  return count > 0;
}

/**
 * Sets the numbers of events and of skipped events of a new chunk; a chunk without events ends at
 * once.
 */
export async function fillChunk(
  sql: Sql,
  { projectId, chunkId }: { readonly projectId: string; readonly chunkId: string },
  { events, skipped }: { readonly events: number; readonly skipped: number },
): Promise<void> {
  const endedAt = events === 0 ? sql`statement_timestamp()` : sql`null`;
  await sql`
    update evaluation_chunks set
      events = ${events},
      skipped = ${skipped},
      ended_at = ${endedAt}
    where project_id = ${projectId} and chunk_id = ${chunkId}`;
}

/**
 * Moves the longest waiting runs of the chunk's version into an open chunk, up to `eventsMax`, and
 * returns their events. Throws if the chunk has ended, which rolls the caller's transaction back.
 */
export async function extendChunk(
  sql: Sql,
  chunk: Pick<ChunkRow, "projectId" | "chunkId" | "evaluatorId" | "version" | "enablement">,
  eventsMax: number,
): Promise<string[]> {
  const { projectId, chunkId, evaluatorId, version, enablement } = chunk;
  const room = sql`(
    select greatest(0, ${eventsMax} - events)
    from evaluation_chunks
    where project_id = ${projectId} and chunk_id = ${chunkId})`;
  const rows = await sql<{ event_id: string }[]>`
    update scores
    set state = 'running', chunk_id = ${chunkId}, enablement = ${enablement}
    where project_id = ${projectId} and evaluator_id = ${evaluatorId} and version = ${version}
      and event_id = any(array(${longestWaiting(sql, chunk, room)}))
    returning event_id`;
  if (rows.length === 0) return [];
  const { count } = await sql`
    update evaluation_chunks
    set events = events + ${rows.length}, moved_at = statement_timestamp()
    where project_id = ${projectId} and chunk_id = ${chunkId} and ended_at is null`;
  // Runs in a chunk that has ended would never run.
  if (count === 0) throw new Error("the chunk has ended");
  return rows.map((row) => unescapeText(row.event_id));
}

/** Amounts that a commit adds to its chunk. */
export type ChunkSums = {
  readonly scored: number;
  readonly failed: number;
  readonly skipped: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cost: number;
  readonly unpriced: number;
};

/** Adds to a chunk's sums. */
export async function addToChunk(
  sql: Sql,
  { projectId, chunkId }: { readonly projectId: string; readonly chunkId: string },
  sums: ChunkSums,
): Promise<void> {
  await sql`
    update evaluation_chunks set
      scored = scored + ${sums.scored},
      failed = failed + ${sums.failed},
      skipped = skipped + ${sums.skipped},
      judge_prompt_tokens = judge_prompt_tokens + ${sums.promptTokens},
      judge_completion_tokens = judge_completion_tokens + ${sums.completionTokens},
      judge_cost = judge_cost + ${String(sums.cost)}::text::numeric,
      judge_unpriced = judge_unpriced + ${sums.unpriced},
      moved_at = statement_timestamp()
    where project_id = ${projectId} and chunk_id = ${chunkId}`;
}

export async function touchChunk(sql: Sql, projectId: string, chunkId: string): Promise<void> {
  await sql`
    update evaluation_chunks
    set moved_at = statement_timestamp()
    where project_id = ${projectId} and chunk_id = ${chunkId} and ended_at is null`;
}

/** Ends an open chunk. */
export async function endChunk(sql: Sql, projectId: string, chunkId: string): Promise<void> {
  await sql`
    update evaluation_chunks
    set ended_at = statement_timestamp()
    where project_id = ${projectId} and chunk_id = ${chunkId} and ended_at is null`;
}

/** Progress of a chunk, in events. */
export type ChunkCounts = {
  readonly events: number;
  readonly scored: number;
  readonly failed: number;
  readonly skipped: number;
};

export async function findChunk(
  sql: Sql,
  projectId: string,
  chunkId: string,
): Promise<(ChunkCounts & { readonly isEnded: boolean }) | undefined> {
  const [row] = await sql<(ChunkCounts & { isEnded: boolean })[]>`
    select events, scored, failed, skipped, ended_at is not null as "isEnded"
    from evaluation_chunks
    where project_id = ${projectId} and chunk_id = ${chunkId}`;
  return row;
}

/** Sums over the chunks of a backfill. */
export async function sumBackfill(
  sql: Sql,
  projectId: string,
  backfillId: string,
): Promise<ChunkCounts> {
  const [row] = await sql<ChunkCounts[]>`
    select
      coalesce(sum(events), 0)::integer as events,
      coalesce(sum(scored), 0)::integer as scored,
      coalesce(sum(failed), 0)::integer as failed,
      coalesce(sum(skipped), 0)::integer as skipped
    from evaluation_chunks
    where project_id = ${projectId} and backfill_id = ${backfillId}`;
  return row ?? { events: 0, scored: 0, failed: 0, skipped: 0 };
}

/** Sums over the chunks of an evaluator, with the field names of the answer. */
export type MetricSums = {
  readonly scored: number;
  readonly failed: number;
  readonly judgePromptTokens: number;
  readonly judgeCompletionTokens: number;
  readonly judgeCost: number;
  readonly judgeUnpriced: number;
};

/** Maximum chunks to sum, the latest ones: one chunk a second for a day. */
const summedChunksMax = 100_000;

/** Sums over the chunks of an evaluator created since a time. */
export async function sumMetric(
  sql: Sql,
  projectId: string,
  evaluatorId: string,
  since: Date,
): Promise<MetricSums> {
  const [row] = await sql<MetricSums[]>`
    select
      coalesce(sum(scored), 0)::integer as scored,
      coalesce(sum(failed), 0)::integer as failed,
      coalesce(sum(judge_prompt_tokens), 0)::bigint as "judgePromptTokens",
      coalesce(sum(judge_completion_tokens), 0)::bigint as "judgeCompletionTokens",
      coalesce(sum(judge_cost), 0)::double precision as "judgeCost",
      coalesce(sum(judge_unpriced), 0)::integer as "judgeUnpriced"
    from (
      select
        scored, failed, judge_prompt_tokens, judge_completion_tokens, judge_cost, judge_unpriced
      from evaluation_chunks
      where project_id = ${projectId} and evaluator_id = ${evaluatorId} and created_at >= ${since}
      order by created_at desc
      limit ${summedChunksMax}
    ) as latest`;
  if (row === undefined) throw new Error("a sum over nothing is a row, too");
  return row;
}

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
      (select extract(epoch from statement_timestamp() - created_at)::double precision * 1000
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
      ${projectId}::uuid, ${chunkId}::uuid, ${evaluatorId}::uuid, ${escapeText(chunk.name)}::text,
      ${version}::integer, ${enablement}::integer, ${workflowId}::text, count(*)
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
        and created_at < statement_timestamp() - ${ageDays} * interval '1 day'
        and ended_at is not null and backfill_id is null
      order by created_at
      limit ${limit}
    ))`;
}

/** Returns at most `limit` open chunks whose workflow has not been started, untried ones first. */
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
    order by moved_at, created_at
    limit ${limit}`;
  return rows.map((row) => ({ ...row, name: unescapeText(row.name) }));
}

export async function markHanded(sql: Sql, projectId: string, chunkId: string): Promise<void> {
  await sql`
    update evaluation_chunks
    set handed_at = statement_timestamp(), moved_at = statement_timestamp()
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
      and moved_at < statement_timestamp() - ${stillMs} * interval '1 millisecond'
    order by moved_at
    limit ${limit}`;
}

/** Returns the open chunk of a backfill; undefined if there is none. */
export async function findOpenChunk(
  sql: Sql,
  projectId: string,
  backfillId: string,
): Promise<Pick<OpenChunk, "chunkId" | "enablement" | "events"> | undefined> {
  const [row] = await sql<Pick<OpenChunk, "chunkId" | "enablement" | "events">[]>`
    select chunk_id as "chunkId", enablement, events
    from evaluation_chunks
    where project_id = ${projectId} and backfill_id = ${backfillId} and ended_at is null
    order by created_at
    limit 1`;
  return row;
}
