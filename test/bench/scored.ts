// Waits for scores and counts them: each event must have exactly one right score of each evaluator
// that runs on it, and none of the others.

import { setTimeout as delay } from "node:timers/promises";
import { type EventRange, type MadeMetric, microsecondsOf, type Scoring } from "./scoring.ts";

const pollMs = 250;
/** Maximum time without progress; after it no further score is expected. */
const stillMs = 90_000;

/** Waits until metrics together have ended `expected` runs since they were created. */
export async function waitForRuns(
  scoring: Scoring,
  metrics: readonly MadeMetric[],
  expected: number,
): Promise<void> {
  let last = -1;
  let movedAt = Date.now();
  for (;;) {
    const ended = await countEnded(scoring, metrics);
    if (ended >= expected) return;
    if (ended > last) movedAt = Date.now();
    last = ended;
    if (Date.now() - movedAt > stillMs) {
      const [first] = metrics;
      const status = first && (await scoring.call(`GET /v1/metrics/${first.id}/status`));
      throw new Error(`${ended} of ${expected} runs have ended: ${JSON.stringify(status)}`);
    }
    await delay(pollMs);
  }
}

/**
 * Returns the number of ended runs. It counts by chunks, which are few, so that polling is cheap.
 */
async function countEnded(scoring: Scoring, metrics: readonly MadeMetric[]): Promise<number> {
  const { project_id: projectId } = scoring.service.credentials;
  const [row] = await scoring.database.sql()<{ readonly ended: number }[]>`
    select coalesce(sum(scored + failed), 0)::integer as ended
    from evaluation_chunks
    where project_id = ${projectId} and evaluator_id = any(${metrics.map(({ id }) => id)})`;
  return row?.ended ?? 0;
}

/** Waits until no event of the project waits for evaluators and no chunk runs. */
export async function waitForQuiet({ service, database }: Scoring): Promise<void> {
  const { project_id: projectId } = service.credentials;
  const deadline = Date.now() + stillMs;
  for (;;) {
    const [row] = await database.sql()<{ readonly waiting: number }[]>`
      select (
        (select count(*) from evaluation_queue where project_id = ${projectId}) +
        (select count(*) from evaluation_chunks
          where project_id = ${projectId} and ended_at is null)
      )::integer as waiting`;
    if (row?.waiting === 0) return;
    if (Date.now() > deadline) throw new Error(`${row?.waiting} rows still wait for evaluators`);
    await delay(pollMs);
  }
}

type Counts = {
  readonly stored: number;
  readonly runs: number;
  readonly scored: number;
  readonly merged: number;
};

/** Throws unless a metric scored each event of a range once, or never if `isRun` is false. */
export async function checkScored(
  { service, database }: Scoring,
  { id, name }: MadeMetric,
  range: EventRange,
  isRun = true,
): Promise<void> {
  const { fromUs, toUs } = microsecondsOf(range);
  const [counts] = await database.sql()<Counts[]>`
    select
      count(distinct events.event_id)::integer as stored,
      count(scores.event_id)::integer as runs,
      count(*) filter (where scores.state = 'scored')::integer as scored,
      count(*) filter (where events.metrics -> ${name}::text
        = to_jsonb(length(events.outputs ->> 'content')))::integer as merged
    from events
    left join scores on scores.project_id = events.project_id
      and scores.event_id = events.event_id and scores.evaluator_id = ${id}
    where events.project_id = ${service.credentials.project_id}
      and events.start_time_us >= ${fromUs} and events.start_time_us < ${toUs}
      and events.event_type not in ('session', 'pending')`;
  const expected = isRun ? range.events : 0;
  if (
    counts?.stored !== range.events ||
    [counts.runs, counts.scored, counts.merged].some((count) => count !== expected)
  ) {
    throw new Error(`${range.events} events, ${expected} to score: ${JSON.stringify(counts)}`);
  }
}

/** Throws unless metrics committed exactly `expected` scores and no failure, so none twice. */
export async function checkCommitted(
  { service, database }: Scoring,
  metrics: readonly MadeMetric[],
  expected: number,
): Promise<void> {
  const [row] = await database.sql()<{ readonly scored: number; readonly failed: number }[]>`
    select coalesce(sum(scored), 0)::integer as scored, coalesce(sum(failed), 0)::integer as failed
    from evaluation_chunks
    where project_id = ${service.credentials.project_id}
      and evaluator_id = any(${metrics.map(({ id }) => id)})`;
  if (row?.scored !== expected || row.failed !== 0) {
    throw new Error(`${expected} scores to be committed: ${JSON.stringify(row)}`);
  }
}
