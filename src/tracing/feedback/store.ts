// Records of feedback in Postgres. Every statement names its project; a record goes with its event
// (events/store.ts, sessions/store.ts).

import type { JsonObject } from "../../base/json.ts";
import type { PageOptions, Position } from "../../base/pages.ts";
import type { Sql } from "../../postgres/database.ts";
import { isBefore, selectCreatedAtUs } from "../../postgres/keyset.ts";
import { escapeJson, escapeText, unescapeJson, unescapeText } from "../events/postgres-text.ts";

/** What is stored of one call. */
export type NewFeedback = {
  readonly feedbackId: string;
  readonly generationId: string;
  readonly task: string;
  readonly items: JsonObject;
  readonly groundTruth: string | undefined;
};

/** A stored record and its place in the list. */
export type FeedbackRecord = Omit<NewFeedback, "feedbackId"> & Position;

/** The newest records of a generation, and whether there are more. */
export type FeedbackRows = { readonly rows: FeedbackRecord[]; readonly hasMore: boolean };

/** Tells whether an id is that of a generation. */
export async function isGeneration(sql: Sql, projectId: string, eventId: string): Promise<boolean> {
  const rows = await sql`
    select 1
    from events
    where project_id = ${projectId} and event_id = ${escapeText(eventId)}
      and event_type = 'model'`;
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

type Row = Position & {
  readonly task: string;
  readonly feedback: string;
  readonly ground_truth: string | null;
};

/** Records asked for at a time: what is held past the bound is at most one such portion. */
const portionRows = 10;

/**
 * Returns the newest records of a generation: no more than the page asks for, and after the first
 * none that would bring them past `bytesMax`.
 */
export async function listFeedback(
  sql: Sql,
  projectId: string,
  generationId: string,
  { limit, after, bytesMax }: PageOptions & { readonly bytesMax: number },
): Promise<FeedbackRows> {
  const statement = sql<Row[]>`
    select
      feedback_id as id, ${selectCreatedAtUs(sql, "created_at")},
      task, feedback::text as feedback, ground_truth
    from feedback
    where project_id = ${projectId} and generation_id = ${escapeText(generationId)}
      and ${isBefore(sql, ["created_at", "feedback_id"], after)}
    order by created_at desc, feedback_id desc
    limit ${limit + 1}`;
  const rows: FeedbackRecord[] = [];
  let bytes = 0;
  for await (const portion of statement.cursor(portionRows)) {
    for (const row of portion) {
      bytes += row.feedback.length + row.task.length + (row.ground_truth?.length ?? 0);
      if (rows.length === limit || (rows.length > 0 && bytes > bytesMax)) {
        return { rows, hasMore: true };
      }
      rows.push(toRecord(generationId, row));
    }
  }
  return { rows, hasMore: false };
}

function toRecord(generationId: string, row: Row): FeedbackRecord {
  return {
    id: row.id,
    createdAtUs: row.createdAtUs,
    generationId,
    task: unescapeText(row.task),
    items: JSON.parse(unescapeJson(row.feedback)) as JsonObject,
    groundTruth: row.ground_truth === null ? undefined : unescapeText(row.ground_truth),
  };
}
