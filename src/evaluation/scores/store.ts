// SQL of runs of evaluator versions on events. Every statement names its project; ids and texts of
// events are escaped as in tracing.

import type { Sql } from "../../postgres/database.ts";
import {
  escapeJson,
  escapeText,
  unescapeJson,
  unescapeText,
} from "../../tracing/events/postgres-text.ts";
import type { JudgeCall } from "../runner/runner.ts";
import type { Score } from "./score.ts";
import type { ResultRow } from "./result-row.ts";

/** Chunk and metric version to which runs belong. */
export type ChunkRuns = {
  readonly projectId: string;
  readonly chunkId: string;
  readonly evaluatorId: string;
  readonly version: number;
};

/** Returns the ids of the events that a chunk still has to run on, in no order. */
export async function listRunning(sql: Sql, projectId: string, chunkId: string): Promise<string[]> {
  const rows = await sql<{ event_id: string }[]>`
    select event_id
    from scores
    where project_id = ${projectId} and chunk_id = ${chunkId} and state = 'running'`;
  return rows.map((row) => unescapeText(row.event_id));
}

/** Ends runs that belong to the chunk, and returns the ids of their events. */
export async function endRuns(
  sql: Sql,
  { projectId, chunkId, evaluatorId, version }: ChunkRuns,
  results: readonly ResultRow[],
): Promise<Set<string>> {
  if (results.length === 0) return new Set();
  const incoming = results.map(({ eventId, ...row }) => ({ event_id: eventId, ...row }));
  // The extra list of ids keeps Postgres from reading all events of the project, which it sometimes
  // does for the join alone.
  const rows = await sql<{ event_id: string }[]>`
    update scores set
      state = incoming.state,
      ended_at = statement_timestamp(),
      result = incoming.result,
      explanation = incoming.explanation,
      failure = incoming.failure,
      judge = incoming.judge
    from jsonb_to_recordset(${escapeJson(JSON.stringify(incoming))}::text::jsonb) as incoming (
      event_id text, state text, result jsonb, explanation text, failure text, judge jsonb)
    where scores.project_id = ${projectId} and scores.event_id = incoming.event_id
      and scores.event_id = any(${results.map(({ eventId }) => escapeText(eventId))})
      and scores.evaluator_id = ${evaluatorId} and scores.version = ${version}
      and scores.state = 'running' and scores.chunk_id = ${chunkId}
    returning scores.event_id`;
  return new Set(rows.map((row) => unescapeText(row.event_id)));
}

/** Deletes runs that belong to the chunk, as if never queued; returns the number. */
export async function skipRuns(
  sql: Sql,
  { projectId, chunkId, evaluatorId, version }: ChunkRuns,
  eventIds: readonly string[],
): Promise<number> {
  if (eventIds.length === 0) return 0;
  const { count } = await sql`
    delete from scores
    where project_id = ${projectId} and event_id = any(${eventIds.map(escapeText)})
      and evaluator_id = ${evaluatorId} and version = ${version}
      and state = 'running' and chunk_id = ${chunkId}`;
  return count;
}

/**
 * Assigns runs of events, which are held, to the chunk and marks them running: new ones, waiting
 * ones, and with `includesFailed` failed ones, which keep their failure meanwhile. Returns the
 * number.
 */
export async function takeRuns(
  sql: Sql,
  { projectId, chunkId, evaluatorId, version }: ChunkRuns,
  take: {
    readonly enablement: number;
    readonly eventIds: readonly string[];
    readonly includesFailed: boolean;
  },
): Promise<number> {
  const { enablement, eventIds, includesFailed } = take;
  // No parameter: Citus sends it to the shard without those before it, whose types are lost then.
  const taken = includesFailed ? sql`in ('queued', 'failed')` : sql`= 'queued'`;
  // Counts what it returns: for such a statement Citus counts the rows that were given.
  const { length } = await sql`
    insert into scores as held (
      project_id, event_id, evaluator_id, version, state, enablement, chunk_id)
    select
      ${projectId}::uuid, event_id, ${evaluatorId}::uuid, ${version}::integer, 'running',
      ${enablement}::integer, ${chunkId}::uuid
    from unnest(${eventIds.map(escapeText)}::text[]) as given (event_id)
    order by event_id
    on conflict (project_id, event_id, evaluator_id, version) do update set
      state = 'running',
      enablement = excluded.enablement,
      chunk_id = excluded.chunk_id
    where held.state ${taken}
    returning 1`;
  return length;
}

/** Puts the unfinished runs of a chunk back into the queue. */
export async function requeueRuns(sql: Sql, projectId: string, chunkId: string): Promise<void> {
  await sql`
    update scores
    set state = 'queued', chunk_id = null
    where project_id = ${projectId} and chunk_id = ${chunkId} and state = 'running'`;
}

/** Deletes the unfinished runs of a chunk; a run with an earlier failure becomes failed again. */
export async function dropRuns(sql: Sql, projectId: string, chunkId: string): Promise<void> {
  await sql`
    update scores
    set state = 'failed'
    where project_id = ${projectId} and chunk_id = ${chunkId} and state = 'running'
      and failure is not null`;
  await sql`
    delete from scores
    where project_id = ${projectId} and chunk_id = ${chunkId} and state = 'running'`;
}

/** Numbers of scores by state, and the cost of judges' calls in US dollars. */
export type ScoreCounts = {
  readonly queued: number;
  readonly running: number;
  readonly scored: number;
  readonly failed: number;
  readonly cost: number;
};

/** Counts the scores of events by evaluator; those of all its versions together. */
export async function countEvents(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
): Promise<readonly (ScoreCounts & { readonly evaluatorId: string })[]> {
  return sql<(ScoreCounts & { readonly evaluatorId: string })[]>`
    select
      evaluator_id as "evaluatorId",
      count(*) filter (where state = 'queued')::integer as queued,
      count(*) filter (where state = 'running')::integer as running,
      count(*) filter (where state = 'scored')::integer as scored,
      count(*) filter (where state = 'failed')::integer as failed,
      coalesce(sum((judge ->> 'cost')::float8), 0) as cost
    from scores
    where project_id = ${projectId} and event_id = any(${eventIds.map(escapeText)}::text[])
    group by evaluator_id
    order by evaluator_id`;
}

export type RunRow = {
  readonly version: number;
  readonly state: "queued" | "running" | "scored" | "failed";
  readonly score: Score | undefined;
  readonly explanation: string | undefined;
  readonly failure: string | undefined;
  readonly judge: JudgeCall | undefined;
  readonly queuedAt: Date;
  readonly endedAt: Date | undefined;
  readonly workflowId: string | undefined;
};

type StoredRunRow = {
  readonly version: number;
  readonly state: RunRow["state"];
  readonly result: string | null;
  readonly explanation: string | null;
  readonly failure: string | null;
  readonly judge: string | null;
  readonly queued_at: Date;
  readonly ended_at: Date | null;
  readonly workflow_id: string | null;
};

/**
 * Returns the runs of an evaluator's versions on an event, newest version first: those of `version`
 * and of the newest others, at most `limit`.
 */
export async function listRuns(
  sql: Sql,
  { projectId, evaluatorId, version }: Omit<ChunkRuns, "chunkId">,
  { eventId, limit }: { readonly eventId: string; readonly limit: number },
): Promise<RunRow[]> {
  const rows = await sql<StoredRunRow[]>`
    select
      scores.version, scores.state, scores.result::text as result, scores.explanation,
      scores.failure, scores.judge::text as judge, scores.queued_at, scores.ended_at,
      chunks.workflow_id
    from scores
    left join evaluation_chunks as chunks
      on chunks.project_id = scores.project_id and chunks.chunk_id = scores.chunk_id
    where scores.project_id = ${projectId} and scores.event_id = ${escapeText(eventId)}
      and scores.evaluator_id = ${evaluatorId}
    order by scores.version = ${version} desc, scores.version desc
    limit ${limit}`;
  return rows.map(toRun).toSorted((a, b) => b.version - a.version);
}

function toRun(row: StoredRunRow): RunRow {
  const { version, state, queued_at, workflow_id } = row;
  // A run that is repeated still has its earlier result.
  const ended = state === "scored" || state === "failed" ? row : undefined;
  return {
    version,
    state,
    score: parseJson(ended?.result) as Score | undefined,
    explanation: parseText(ended?.explanation),
    failure: parseText(ended?.failure),
    judge: parseJson(ended?.judge) as JudgeCall | undefined,
    queuedAt: queued_at,
    endedAt: ended?.ended_at ?? undefined,
    workflowId: workflow_id ?? undefined,
  };
}

function parseText(text: string | null | undefined): string | undefined {
  return text == null ? undefined : unescapeText(text);
}

function parseJson(text: string | null | undefined): unknown {
  return text == null ? undefined : JSON.parse(unescapeJson(text));
}
