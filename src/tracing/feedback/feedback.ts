// Feedback on generations: the record of who said what, and what it changes on the generation's
// event. Called by handlers.ts. Source: docs/spec.md, "Feedback"; docs/decisions.md, 6, 20, 23.

import { ServiceError } from "../../base/errors.ts";
import { createUuid, isRecordId, type ProjectId } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import { answerBytesMax } from "../../base/limits.ts";
import { formatCursor, type Page, type PageRequest, parsePageOptions } from "../../base/pages.ts";
import type { Database } from "../../postgres/database.ts";
import { assertSound } from "../events/parse-event.ts";
import type { Recorder } from "../events/record.ts";
import { lockEvents } from "../events/store.ts";
import * as store from "./store.ts";
import type { FeedbackRecord } from "./store.ts";

export type { FeedbackRecord };

export type FeedbackInput = {
  readonly generationId: string;
  readonly task: string;
  readonly items: JsonObject;
  readonly groundTruth: string | undefined;
};

export type Feedback = ReturnType<typeof createFeedback>;

/** As names are; longer text belongs in the items. */
const taskLengthMax = 10_000;

/** Item under which an event keeps what its outputs should have been. */
const groundTruthItem = "ground_truth";

/** Returns the feedback service. Every method acts on one project only, the caller's. */
export function createFeedback(
  database: Database,
  recorder: Recorder,
  { bytesMax = answerBytesMax }: { readonly bytesMax?: number } = {},
) {
  /**
   * Stores a record and merges its items and ground truth into the event, both or neither. Throws
   * NOT_FOUND when the project has no such generation, and INVALID_ARGUMENT naming the field.
   */
  async function create(projectId: ProjectId, input: FeedbackInput): Promise<FeedbackRecord> {
    const { generationId, task, items } = input;
    const groundTruth = check(input);
    if (!isRecordId(generationId)) throw notFound();
    return database.transaction(async (sql) => {
      // Locked, so that the event cannot go before its record stands beside it.
      const [held] = await lockEvents(sql, projectId, [generationId]);
      if (held === undefined || "pending" in held || held.event.event_type !== "model") {
        throw notFound();
      }
      const feedback =
        groundTruth === undefined ? items : { ...items, [groundTruthItem]: groundTruth };
      if (Object.keys(feedback).length > 0) {
        await recorder.update(projectId, { event_id: generationId, feedback });
      }
      const record = { generationId, task, items, groundTruth };
      const stored = { ...record, feedbackId: createUuid() };
      return { ...record, ...(await store.insertFeedback(sql, projectId, stored)) };
    });
  }

  /** Lists the records of a generation, newest first. Throws NOT_FOUND when there is none. */
  async function list(
    projectId: ProjectId,
    generationId: string,
    request: PageRequest,
  ): Promise<Page<FeedbackRecord>> {
    const page = { ...parsePageOptions(request), bytesMax };
    const sql = database.sql();
    const isThere =
      isRecordId(generationId) && (await store.isGeneration(sql, projectId, generationId));
    if (!isThere) throw notFound();
    const { rows, hasMore } = await store.listFeedback(sql, projectId, generationId, page);
    const last = rows.at(-1);
    return { items: rows, nextCursor: hasMore && last ? formatCursor(last) : undefined };
  }

  return { create, list };
}

/** Returns the ground truth, which may stand among the items as well. */
function check({ task, items, groundTruth }: FeedbackInput): string | undefined {
  if (task.length > taskLengthMax) {
    const message = `task: is longer than ${taskLengthMax} characters`;
    throw new ServiceError("INVALID_ARGUMENT", message);
  }
  assertSound(items, "feedback_json");
  const item = items[groundTruthItem];
  if (groundTruth === undefined) return typeof item === "string" ? item : undefined;
  if (item === undefined || item === null || item === groundTruth) return groundTruth;
  const message = "feedback_json.ground_truth: differs from ground_truth; say one of them";
  throw new ServiceError("INVALID_ARGUMENT", message);
}

function notFound(): ServiceError {
  return new ServiceError("NOT_FOUND", "no such generation");
}
