// SQL of claims, reviews and people's scores, in the cluster of the project's events. Every
// statement names its project; texts and ids of events are escaped as in tracing.

import type { Sql } from "../../postgres/database.ts";
import {
  escapeJson,
  escapeText,
  unescapeJson,
  unescapeOrNull,
  unescapeText,
} from "../../tracing/events/postgres-text.ts";
import type { ScoreType } from "../metrics/definition.ts";
import type { Score } from "../scores/score.ts";
import type { QueueKey } from "./item-store.ts";

/** An event of a queue. */
export type ItemKey = QueueKey & { readonly eventId: string };

/** A person who reviews; `id` tells people apart. */
export type Reviewer = { readonly id: string; readonly name: string };

export type ReviewRow = {
  readonly eventId: string;
  readonly reviewer: string;
  readonly name: string;
  readonly claimedAt: Date;
  readonly expiresAt: Date;
  readonly completedAt: Date | null;
};

/** Returns the completed reviews and the claims in force of events, in the order of the claims. */
export async function listReviews(
  sql: Sql,
  { projectId, queueId }: QueueKey,
  eventIds: readonly string[],
): Promise<readonly ReviewRow[]> {
  const rows = await sql<ReviewRow[]>`
    select
      event_id as "eventId",
      reviewer,
      reviewer_name as name,
      claimed_at as "claimedAt",
      expires_at as "expiresAt",
      completed_at as "completedAt"
    from annotation_reviews
    where project_id = ${projectId} and queue_id = ${queueId}
      and event_id = any(${eventIds.map(escapeText)})
      and (completed_at is not null or expires_at > statement_timestamp())
    order by claimed_at, reviewer`;
  return rows.map((row) => ({
    ...row,
    eventId: unescapeText(row.eventId),
    reviewer: unescapeText(row.reviewer),
    name: unescapeText(row.name),
  }));
}

/** Returns the event that a person holds for the longest time; undefined if there is none. */
export async function findHeld(
  sql: Sql,
  { projectId, queueId }: QueueKey,
  reviewer: string,
): Promise<string | undefined> {
  const [row] = await sql<{ event_id: string }[]>`
    select review.event_id
    from annotation_reviews as review
    join annotation_items as item on item.project_id = review.project_id
      and item.event_id = review.event_id and item.queue_id = review.queue_id
    where review.project_id = ${projectId} and review.queue_id = ${queueId}
      and review.reviewer = ${escapeText(reviewer)} and review.completed_at is null
      and review.expires_at > statement_timestamp() and item.state = 'open'
    order by review.claimed_at
    limit 1`;
  return row && unescapeText(row.event_id);
}

/**
 * Returns the next event with a free place for a person, and keeps it from being deleted. Events
 * that the person has released come last, the one first claimed before the others.
 */
export async function findFree(
  sql: Sql,
  { projectId, queueId }: QueueKey,
  { reviewer, reviewers }: { readonly reviewer: string; readonly reviewers: number },
): Promise<string | undefined> {
  const placesTaken = sql`
    count(*) filter (
      where review.completed_at is not null or review.expires_at > statement_timestamp()
    )`;
  const reviewsOfItem = sql`
    from annotation_reviews as review
    where review.project_id = ${projectId} and review.event_id = item.event_id
      and review.queue_id = ${queueId}`;
  const [next] = await sql<{ event_id: string }[]>`
    select event_id
    from annotation_items as item
    where project_id = ${projectId} and queue_id = ${queueId} and state = 'open'
      and (
        select
          ${placesTaken} < ${reviewers}
          and count(*) filter (
            where review.reviewer = ${escapeText(reviewer)}
              and (review.completed_at is not null or review.expires_at = review.claimed_at)
          ) = 0
        ${reviewsOfItem}
      )
    order by position
    limit 1
    for update skip locked`;
  if (next) return unescapeText(next.event_id);
  const [released] = await sql<{ event_id: string }[]>`
    select item.event_id
    from annotation_reviews as own
    join annotation_items as item on item.project_id = own.project_id
      and item.event_id = own.event_id and item.queue_id = own.queue_id
    where own.project_id = ${projectId} and own.queue_id = ${queueId}
      and own.reviewer = ${escapeText(reviewer)} and own.completed_at is null
      and item.state = 'open' and (select ${placesTaken} < ${reviewers} ${reviewsOfItem})
    order by own.claimed_at
    limit 1
    for update of item skip locked`;
  return released && unescapeText(released.event_id);
}

/** Keeps an event of a queue from being deleted; returns false if the queue does not have it. */
export async function lockItem(
  sql: Sql,
  { projectId, queueId, eventId }: ItemKey,
): Promise<boolean> {
  const rows = await sql`
    select 1
    from annotation_items
    where project_id = ${projectId} and event_id = ${escapeText(eventId)}
      and queue_id = ${queueId} and state <> 'removed'
    for update`;
  return rows.length > 0;
}

/**
 * Gives a person a place at an event, which has a free one, and forgets expired claims, but not
 * what others have released.
 */
export async function upsertClaim(
  sql: Sql,
  { projectId, queueId, eventId }: ItemKey,
  { reviewer, seconds }: { readonly reviewer: Reviewer; readonly seconds: number },
): Promise<void> {
  const [event, id] = [escapeText(eventId), escapeText(reviewer.id)];
  await sql`
    delete from annotation_reviews
    where project_id = ${projectId} and event_id = ${event} and queue_id = ${queueId}
      and completed_at is null and expires_at <= statement_timestamp()
      and (reviewer = ${id} or expires_at > claimed_at)`;
  await sql`
    insert into annotation_reviews (
      project_id, queue_id, event_id, reviewer, reviewer_name, expires_at
    )
    values (
      ${projectId}, ${queueId}, ${event}, ${id}, ${escapeText(reviewer.name)},
      statement_timestamp() + ${seconds} * interval '1 second'
    )
    on conflict (project_id, event_id, queue_id, reviewer) do update set
      expires_at = excluded.expires_at`;
}

/**
 * Ends a person's claim; returns whether there was one in force. A claim that ends when it began
 * is a released one.
 */
export async function releaseClaim(
  sql: Sql,
  { projectId, queueId, eventId }: ItemKey,
  reviewer: string,
): Promise<boolean> {
  const rows = await sql`
    update annotation_reviews set expires_at = claimed_at
    where project_id = ${projectId} and event_id = ${escapeText(eventId)}
      and queue_id = ${queueId} and reviewer = ${escapeText(reviewer)} and completed_at is null
      and expires_at > statement_timestamp()
    returning 1`;
  return rows.length > 0;
}

/** Completes a person's place at an event, with a claim or without one. */
export async function upsertCompleted(
  sql: Sql,
  { projectId, queueId, eventId }: ItemKey,
  { id, name }: Reviewer,
): Promise<void> {
  await sql`
    insert into annotation_reviews (
      project_id, queue_id, event_id, reviewer, reviewer_name, expires_at, completed_at
    )
    values (
      ${projectId}, ${queueId}, ${escapeText(eventId)}, ${escapeText(id)}, ${escapeText(name)},
      statement_timestamp(), statement_timestamp()
    )
    on conflict (project_id, event_id, queue_id, reviewer) do update set
      completed_at = excluded.completed_at`;
}

/** A score that a person gives. */
export type GivenScore = {
  readonly evaluatorId: string;
  readonly version: number;
  readonly returnType: ScoreType;
  readonly value: Score;
  readonly explanation: string | null;
};

export async function insertScores(
  sql: Sql,
  { projectId, queueId, eventId }: ItemKey,
  { reviewer, scores }: { readonly reviewer: string; readonly scores: readonly GivenScore[] },
): Promise<void> {
  const incoming = scores.map((score) => ({
    evaluator_id: score.evaluatorId,
    version: score.version,
    return_type: score.returnType,
    value: score.value,
    explanation: score.explanation,
  }));
  await sql`
    insert into annotation_scores (
      project_id, queue_id, event_id, evaluator_id, reviewer, version, return_type, value,
      explanation
    )
    select
      ${projectId}::uuid, ${queueId}::uuid, ${escapeText(eventId)}::text, evaluator_id,
      ${escapeText(reviewer)}::text,
      version, return_type, value, explanation
    from jsonb_to_recordset(${escapeJson(JSON.stringify(incoming))}::text::jsonb) as incoming (
      evaluator_id uuid, version integer, return_type text, value jsonb, explanation text)
    on conflict (project_id, event_id, evaluator_id, queue_id, reviewer) do update set
      version = excluded.version,
      return_type = excluded.return_type,
      value = excluded.value,
      explanation = excluded.explanation,
      scored_at = excluded.scored_at`;
}

/** A person's score, as it is stored. */
export type ScoreRow = Omit<GivenScore, "version"> & { readonly reviewer: string };

type StoredScoreRow = Omit<ScoreRow, "value"> & { readonly value: string };

function toScoreRow(row: StoredScoreRow): ScoreRow {
  return {
    ...row,
    reviewer: unescapeText(row.reviewer),
    value: JSON.parse(unescapeJson(row.value)) as Score,
    explanation: unescapeOrNull(row.explanation),
  };
}

/** Maximum scores of an event that make what stands, the latest ones. */
const standingMax = 10_000;

/** Returns the scores of an event by some metrics, in every queue, oldest first. */
export async function listEventScores(
  sql: Sql,
  { projectId, eventId }: Pick<ItemKey, "projectId" | "eventId">,
  evaluatorIds: readonly string[],
): Promise<readonly ScoreRow[]> {
  const rows = await sql<StoredScoreRow[]>`
    select
      evaluator_id as "evaluatorId", reviewer, return_type as "returnType", value::text as value,
      explanation
    from annotation_scores
    where project_id = ${projectId} and event_id = ${escapeText(eventId)}
      and evaluator_id = any(${[...evaluatorIds]}::uuid[])
    order by scored_at desc, reviewer
    limit ${standingMax}`;
  return rows.map(toScoreRow).toReversed();
}

/** Returns the scores of an event in a queue. */
export async function listItemScores(
  sql: Sql,
  { projectId, queueId, eventId }: ItemKey,
): Promise<readonly ScoreRow[]> {
  const rows = await sql<StoredScoreRow[]>`
    select
      evaluator_id as "evaluatorId", reviewer, return_type as "returnType", value::text as value,
      explanation
    from annotation_scores
    where project_id = ${projectId} and event_id = ${escapeText(eventId)}
      and queue_id = ${queueId}
    order by evaluator_id`;
  return rows.map(toScoreRow);
}

/** A score for the computation of agreement. */
export type ComparedRow = {
  readonly eventId: string;
  readonly reviewer: string;
  /** Number or boolean as text; the hash of a text. */
  readonly value: string;
};

export type ScoresPage = {
  readonly evaluatorId: string;
  readonly returnType: ScoreType;
  /** Event and person after whom the page begins, as stored. */
  readonly after: Pick<ComparedRow, "eventId" | "reviewer"> | undefined;
  readonly limit: number;
};

/** Returns the scores of a metric in a queue, by event; ids stay escaped. */
export async function listScores(
  sql: Sql,
  { projectId, queueId }: QueueKey,
  { evaluatorId, returnType, after, limit }: ScoresPage,
): Promise<readonly ComparedRow[]> {
  return sql<ComparedRow[]>`
    select
      event_id as "eventId",
      reviewer,
      case when jsonb_typeof(value) = 'string' then md5(value::text) else value::text end as value
    from annotation_scores
    where project_id = ${projectId} and queue_id = ${queueId} and evaluator_id = ${evaluatorId}
      and return_type = ${returnType}
      and ${after ? sql`(event_id, reviewer) > (${after.eventId}, ${after.reviewer})` : sql`true`}
    order by event_id, reviewer
    limit ${limit}`;
}
