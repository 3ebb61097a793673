// Feedback on generations: the record of who said what, and what it changes on the generation's
// event. Source: docs/spec.md, "Feedback"; docs/decisions.md, 6, 20, 23.

import { taskLengthMax } from "../../base/field-limits.ts";
import { ServiceError } from "../../base/errors.ts";
import { createUuid, isRecordId, type ProjectId } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import { eventReadBytesMax } from "../../base/limits.ts";
import {
  formatCursor,
  type Page,
  type PageOptions,
  type PageRequest,
  parsePageOptions,
} from "../../base/pages.ts";
import type { Database, Sql } from "../../postgres/database.ts";
import { assertSound } from "../events/parse-event.ts";
import type { Recorder } from "../events/record.ts";
import {
  createReadContext,
  type ReadContext,
  type Reading,
  readWithin,
} from "../events/sized-read.ts";
import { lockTypes } from "../events/store.ts";
import * as store from "./store.ts";
import type { FeedbackRecord, FeedbackRow } from "./store.ts";

export type { FeedbackRecord };

export type FeedbackInput = {
  readonly generationId: string;
  readonly task: string;
  readonly items: JsonObject;
  readonly groundTruth: string | undefined;
};

export type Feedback = ReturnType<typeof createFeedback>;

/** Of the records of a page; the largest that one call can send is half of it. */
const pageBytesMax = 16_000_000;

/** Item under which an event keeps what its outputs should have been. */
const groundTruthItem = "ground_truth";

/** Returns the feedback service. Every method acts on one project only, the caller's. */
export function createFeedback(
  database: Database,
  recorder: Recorder,
  { bytesMax = pageBytesMax }: { readonly bytesMax?: number } = {},
) {
  /**
   * Stores a record and merges its items and ground truth into the event, both or neither. Throws
   * NOT_FOUND when the project has no such generation, and INVALID_ARGUMENT naming the field.
   */
  async function create(projectId: ProjectId, input: FeedbackInput): Promise<FeedbackRecord> {
    const { generationId, task, items } = input;
    const groundTruth = check(input);
    if (!isRecordId(generationId)) throw notFound();
    const createLocked = async (sql: Sql): Promise<FeedbackRecord> => {
      // Locked, so that the event cannot go before its record stands beside it.
      const types = await lockTypes(sql, projectId, [generationId]);
      if (types.get(generationId) !== "model") throw notFound();
      const feedback =
        groundTruth === undefined ? items : { ...items, [groundTruthItem]: groundTruth };
      if (Object.keys(feedback).length > 0) {
        await recorder.update(projectId, { event_id: generationId, feedback });
      }
      const record = { generationId, task, items, groundTruth };
      const stored = { ...record, feedbackId: createUuid() };
      return { ...record, ...(await store.insertFeedback(sql, projectId, stored)) };
    };
    return database.transaction(createLocked, { owner: projectId });
  }

  /**
   * Lists the records of a generation, newest first: no more than the page asks for, and after the
   * first none that would bring them past the bytes of a page. Throws NOT_FOUND when there is none.
   */
  async function list(
    projectId: ProjectId,
    generationId: string,
    request: PageRequest,
    reading?: Reading,
  ): Promise<Page<FeedbackRecord>> {
    const page = parsePageOptions(request);
    const context = createReadContext(database, projectId, reading);
    const isThere =
      isRecordId(generationId) && (await store.isGeneration(context.read, projectId, generationId));
    if (!isThere) throw notFound();
    const rows = await readPage(context, generationId, { ...page, bytesMax });
    const sent = rows.filter((row) => row.is_sent).slice(0, page.limit);
    const last = sent.at(-1);
    return {
      items: sent.map((row) => store.toRecord(generationId, row)),
      nextCursor: last && sent.length < rows.length ? formatCursor(last) : undefined,
    };
  }

  return { create, list };
}

type SizedPage = PageOptions & { readonly bytesMax: number };

/** Reads a page, whose bytes are taken from the call's memory; a first large record alone. */
async function readPage(
  context: ReadContext,
  generationId: string,
  page: SizedPage,
): Promise<readonly FeedbackRow[]> {
  const readRows = (bytesMax: number): Promise<readonly FeedbackRow[]> =>
    readWithin(context, bytesMax, (sql) =>
      store.feedbackRows(sql, context.projectId, generationId, { ...page, bytesMax }),
    );
  const rows = await readRows(page.bytesMax);
  const [first] = rows;
  if (!first || first.is_sent || first.bytes === null) return rows;
  if (first.bytes > eventReadBytesMax) {
    const message = `the record has ${first.bytes} bytes, more than ${eventReadBytesMax}`;
    throw new ServiceError("ANSWER_TOO_LARGE", message);
  }
  return readRows(first.bytes);
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
