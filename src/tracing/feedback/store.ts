// Records of feedback in Postgres. Every statement names its project. A record is deleted with its
// event (events/store.ts, sessions/store.ts).

import type { PendingQuery } from "postgres";
import type { JsonObject } from "../../base/json.ts";
import type { PageOptions, Position } from "../../base/pages.ts";
import type { Read, Sql } from "../../postgres/database.ts";
import { isBefore, selectCreatedAtUs } from "../../postgres/keyset.ts";
import { escapeJson, escapeText, unescapeJson, unescapeText } from "../events/postgres-text.ts";

/** Stored content of one call. */
export type NewFeedback = {
  readonly feedbackId: string;
  readonly generationId: string;
  readonly task: string;
  readonly items: JsonObject;
  readonly groundTruth: string | undefined;
};

/** A stored record and its place in the list. */
export type FeedbackRecord = Omit<NewFeedback, "feedbackId"> & Position;

/** Returns whether an event is a generation. */
export async function isGeneration(
  read: Read,
  projectId: string,
  eventId: string,
): Promise<boolean> {
  const rows = await read(
    (sql) => sql`
      select 1
      from events
      where project_id = ${projectId} and event_id = ${escapeText(eventId)}
        and event_type = 'model'`,
  );
  return rows.length > 0;
}

/** Inserts a record and returns its place. */
export async function insertFeedback(
  sql: Sql,
  projectId: string,
  { feedbackId, generationId, task, items, groundTruth }: NewFeedback,
): Promise<Position> {
  const [row] = await sql<Position[]>`
    insert into feedback (project_id, feedback_id, generation_id, task, feedback, ground_truth)
    values (
      ${projectId}, ${feedbackId}, ${escapeText(generationId)}, ${escapeText(task)},
      ${escapeJson(JSON.stringify(items))}::text::jsonb,
      ${groundTruth === undefined ? null : escapeText(groundTruth)}
    )
    returning feedback_id as id, ${selectCreatedAtUs(sql, "created_at")}`;
  if (row === undefined) throw new Error("one record in, none out");
  return row;
}

/** A record and its size; its texts are null unless `is_sent`. */
export type FeedbackRow = Position & {
  /** Null if the statement did not convert the record to text. */
  readonly bytes: number | null;
  readonly is_sent: boolean;
  readonly task: string | null;
  readonly feedback: string | null;
  readonly ground_truth: string | null;
};

/**
 * Maximum stored bytes that one statement converts to text in order to measure them. Compressed
 * bytes count twenty times.
 */
const estimateMax = 32_000_000;

/**
 * Returns the newest records of a generation, one more than the page asks for. Records are sent, in
 * their order, until their total exceeds `bytesMax`.
 */
export function feedbackRows(
  sql: Sql,
  projectId: string,
  generationId: string,
  { limit, after, bytesMax }: PageOptions & { readonly bytesMax: number },
): PendingQuery<FeedbackRow[]> {
  return sql<FeedbackRow[]>`
      select
        id, "createdAtUs", bytes::double precision, is_sent,
        case when is_sent then task end as task,
        case when is_sent then feedback end as feedback,
        case when is_sent then ground_truth end as ground_truth
      from (
        select
          id, "createdAtUs", task, feedback, ground_truth,
          octet_length(feedback) + lengths as bytes,
          coalesce(sum(octet_length(feedback) + lengths)
            over (rows unbounded preceding) <= ${bytesMax}, false) as is_sent
        from (
          select
            id, "createdAtUs", task, ground_truth, lengths,
            case when position = 1 or estimates <= ${estimateMax}
              then feedback::text end as feedback
          from (
            select
              id, "createdAtUs", task, ground_truth, lengths, feedback,
              row_number() over (rows unbounded preceding) as position,
              sum(lengths + pg_column_size(feedback)
                * case when pg_column_compression(feedback) is null then 1 else 20 end::bigint)
                over (rows unbounded preceding) as estimates
            from (
              select
                feedback_id as id, ${selectCreatedAtUs(sql, "created_at")},
                task, feedback, ground_truth,
                octet_length(task) + coalesce(octet_length(ground_truth), 0) as lengths
              from feedback
              where project_id = ${projectId} and generation_id = ${escapeText(generationId)}
                and ${isBefore(sql, ["created_at", "feedback_id"], after)}
              order by created_at desc, feedback_id desc
              limit ${limit + 1}) as found) as estimated
          offset 0) as made) as measured`;
}

/** Converts a row that was sent. */
export function toRecord(generationId: string, row: FeedbackRow): FeedbackRecord {
  return {
    id: row.id,
    createdAtUs: row.createdAtUs,
    generationId,
    task: unescapeText(row.task ?? ""),
    items: JSON.parse(unescapeJson(row.feedback ?? "{}")) as JsonObject,
    groundTruth: row.ground_truth === null ? undefined : unescapeText(row.ground_truth),
  };
}
