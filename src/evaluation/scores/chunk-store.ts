// SQL of chunks, and of the failures in a row of evaluators. Every statement names its project.

import type { Sql } from "../../postgres/database.ts";
import { escapeText, unescapeText } from "../../tracing/events/postgres-text.ts";
import { longestWaiting } from "./waiting-store.ts";

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
      clock_timestamp()
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
  await sql`
    update evaluation_chunks set
      events = ${events},
      skipped = ${skipped},
      ended_at = case when ${events}::integer = 0 then clock_timestamp() end
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
    set events = events + ${rows.length}, moved_at = clock_timestamp()
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
      moved_at = clock_timestamp()
    where project_id = ${projectId} and chunk_id = ${chunkId}`;
}

export async function touchChunk(sql: Sql, projectId: string, chunkId: string): Promise<void> {
  await sql`
    update evaluation_chunks
    set moved_at = clock_timestamp()
    where project_id = ${projectId} and chunk_id = ${chunkId} and ended_at is null`;
}

/** Ends an open chunk. */
export async function endChunk(sql: Sql, projectId: string, chunkId: string): Promise<void> {
  await sql`
    update evaluation_chunks
    set ended_at = clock_timestamp()
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

/** Key of a streak: failures without a score between them, in one enablement of an evaluator. */
export type StreakKey = {
  readonly projectId: string;
  readonly evaluatorId: string;
  readonly enablement: number;
};

export type Streak = { readonly failuresInRow: number; readonly lastFailure: string | null };

const noStreak: Streak = { failuresInRow: 0, lastFailure: null };

/** Returns a streak, locked until the transaction ends if `isLocked`. */
export async function findStreak(
  sql: Sql,
  { projectId, evaluatorId, enablement }: StreakKey,
  { isLocked }: { readonly isLocked: boolean },
): Promise<Streak> {
  const [row] = await sql<{ failures_in_row: number; last_failure: string | null }[]>`
    select failures_in_row, last_failure
    from evaluator_streaks
    where project_id = ${projectId} and evaluator_id = ${evaluatorId}
      and enablement = ${enablement}
    ${isLocked ? sql`for update` : sql``}`;
  if (row === undefined) return noStreak;
  const { failures_in_row: failuresInRow, last_failure: text } = row;
  return { failuresInRow, lastFailure: text === null ? null : unescapeText(text) };
}

/** Creates an empty streak, unless there is one. */
export async function ensureStreak(sql: Sql, key: StreakKey): Promise<void> {
  await sql`
    insert into evaluator_streaks (project_id, evaluator_id, enablement, failures_in_row)
    values (${key.projectId}, ${key.evaluatorId}, ${key.enablement}, 0)
    on conflict (project_id, evaluator_id, enablement) do nothing`;
}

export async function setStreak(sql: Sql, key: StreakKey, streak: Streak): Promise<void> {
  const { failuresInRow, lastFailure } = streak;
  await sql`
    update evaluator_streaks
    set failures_in_row = ${failuresInRow},
      last_failure = ${lastFailure === null ? null : escapeText(lastFailure)}
    where project_id = ${key.projectId} and evaluator_id = ${key.evaluatorId}
      and enablement = ${key.enablement}`;
}
