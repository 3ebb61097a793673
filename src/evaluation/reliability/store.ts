// SQL of the scores of an evaluator beside those of people on the same events. The statement names
// its project; ids and texts of events are escaped as in tracing.

import type { PendingQuery } from "postgres";
import type { Sql } from "../../postgres/database.ts";
import { escapeText } from "../../tracing/events/postgres-text.ts";

/** Events of a project in a period; both bounds are included. */
export type Period = {
  readonly projectId: string;
  readonly startUs: number | undefined;
  readonly endUs: number | undefined;
};

export type Compared = {
  readonly evaluatorId: string;
  /** Key of the scores of people in `metrics`. */
  readonly humanName: string;
  readonly eventsMax: number;
  readonly rowsMax: number;
};

/** Maximum characters of a text that is compared, and of names of models. */
export const textLengthMax = 200;

/**
 * A score of a version on an event with a score of people. The counts are the same in every row;
 * the only row has counts alone if there is no pair. Texts are cut one character past the maximum.
 */
export type ScoreRow = {
  readonly considered: number;
  readonly human_scored: number;
  readonly event_id: string | null;
  readonly start_time_us: number;
  readonly model: string | null;
  readonly human_type: string;
  readonly human: string | null;
  readonly judge_type: string;
  readonly judge: string | null;
  readonly version: number;
  readonly judge_model: string | null;
};

/** Returns the scores on the newest events of a period, newest event and version first. */
export function scoreRows(
  sql: Sql,
  { projectId, startUs, endUs }: Period,
  { evaluatorId, humanName, eventsMax, rowsMax }: Compared,
): PendingQuery<ScoreRow[]> {
  return sql<ScoreRow[]>`
    with newest as materialized (
      select event_id, start_time_us, model, metrics -> ${escapeText(humanName)} as human
      from events
      where project_id = ${projectId} and event_type <> 'pending'
        and (${startUs ?? null}::bigint is null or start_time_us >= ${startUs ?? null}::bigint)
        and (${endUs ?? null}::bigint is null or start_time_us <= ${endUs ?? null}::bigint)
      order by start_time_us desc, event_id desc
      limit ${eventsMax}
    ), counts as (
      select
        count(*)::integer as considered,
        count(*) filter (where jsonb_typeof(human) <> 'null')::integer as human_scored
      from newest
    ), pairs as (
      select
        newest.event_id, newest.start_time_us, newest.model,
        jsonb_typeof(newest.human) as human_type,
        left(newest.human #>> '{}', ${textLengthMax + 1}) as human,
        jsonb_typeof(scores.result) as judge_type,
        left(scores.result #>> '{}', ${textLengthMax + 1}) as judge,
        scores.version,
        left(scores.judge ->> 'model', ${textLengthMax}) as judge_model
      from newest
      join scores on scores.project_id = ${projectId} and scores.event_id = newest.event_id
        and scores.evaluator_id = ${evaluatorId} and scores.state = 'scored'
      where jsonb_typeof(newest.human) <> 'null'
      order by newest.start_time_us desc, newest.event_id desc, scores.version desc
      limit ${rowsMax}
    )
    select counts.considered, counts.human_scored, pairs.*
    from counts
    left join pairs on true
    order by pairs.start_time_us desc, pairs.event_id desc, pairs.version desc`;
}

/** Returns the number of events of a period. */
export function countEvents(
  sql: Sql,
  { projectId, startUs, endUs }: Period,
): PendingQuery<{ count: number }[]> {
  return sql<{ count: number }[]>`
    select count(*)::integer as count
    from events
    where project_id = ${projectId} and event_type <> 'pending'
      and (${startUs ?? null}::bigint is null or start_time_us >= ${startUs ?? null}::bigint)
      and (${endUs ?? null}::bigint is null or start_time_us <= ${endUs ?? null}::bigint)`;
}
