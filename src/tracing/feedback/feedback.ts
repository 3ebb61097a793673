// Feedback on generations: stores each record and applies it to the generation's event.
// Source: docs/spec.md, "Feedback"; docs/decisions.md, 6, 20.2, 23.

import { taskLengthMax } from "../../base/field-limits.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
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
import type { Mask } from "../masking/mask.ts";
import type { MaskOf } from "../masking/masked-recorder.ts";
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

/** Maximum bytes of the records of a page; twice the largest record that one call can send. */
const pageBytesMax = 16_000_000;

/** Item of an event's feedback that holds the expected output. */
const groundTruthItem = "ground_truth";

/** Returns the feedback service. Every method acts on the caller's project only. */
export function createFeedback(
  database: Database,
  recorder: Recorder,
  options: { readonly bytesMax?: number; readonly maskOf?: MaskOf } = {},
) {
  const { bytesMax = pageBytesMax, maskOf = () => Promise.resolve(undefined) } = options;
  /**
   * Stores a record and merges its items and ground truth into the event, both or neither. Throws
   * NOT_FOUND if the project has no such generation, and INVALID_ARGUMENT naming the field.
   */
  async function create(projectId: ProjectId, input: FeedbackInput): Promise<FeedbackRecord> {
    const { generationId } = input;
    const checked = { task: input.task, items: input.items, groundTruth: check(input) };
    const { task, items, groundTruth } = await maskContent(await maskOf(projectId), checked);
    if (!isRecordId(generationId)) throw notFound();
    const createLocked = async (sql: Sql): Promise<FeedbackRecord> => {
      // The lock keeps the event from being deleted before its record is stored.
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
   * Lists the records of a generation, newest first. A page ends at its limit, or before the first
   * record that exceeds the maximum bytes of a page. Throws NOT_FOUND if the generation does not
   * exist.
   */
  async function list(
    projectId: ProjectId,
    generationId: string,
    request: PageRequest,
    reading?: Reading,
  ): Promise<Page<FeedbackRecord>> {
    const page = parsePageOptions("feedback", request);
    const context = createReadContext(database, projectId, reading);
    const isThere =
      isRecordId(generationId) && (await store.isGeneration(context.read, projectId, generationId));
    if (!isThere) throw notFound();
    const rows = await readPage(context, generationId, { ...page, bytesMax });
    const sent = rows.filter((row) => row.is_sent).slice(0, page.limit);
    const last = sent.at(-1);
    return {
      items: sent.map((row) => store.toRecord(generationId, row)),
      nextCursor: last && sent.length < rows.length ? formatCursor("feedback", last) : undefined,
    };
  }

  return { create, list };
}

type SizedPage = PageOptions & { readonly bytesMax: number };

/** Reads a page into the call's memory. A first record larger than a page comes alone. */
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

/** Validates the input. Returns the ground truth, which may also be one of the items. */
function check({ task, items, groundTruth }: FeedbackInput): string | undefined {
  if (task.length > taskLengthMax) refuse("task", `is longer than ${taskLengthMax} characters`);
  assertSound(items, "feedback_json");
  const item = items[groundTruthItem];
  if (groundTruth === undefined) return typeof item === "string" ? item : undefined;
  if (item === undefined || item === null || item === groundTruth) return groundTruth;
  return refuse("feedback_json.ground_truth", "differs from ground_truth; say one of them");
}

type Content = Pick<FeedbackInput, "task" | "items" | "groundTruth">;

async function maskContent(mask: Mask | undefined, content: Content): Promise<Content> {
  if (!mask) return content;
  const { task, items, groundTruth } = content;
  return {
    task: await mask.text(task),
    items: await mask.value(items),
    groundTruth: groundTruth === undefined ? undefined : await mask.text(groundTruth),
  };
}

function notFound(): ServiceError {
  return new ServiceError("NOT_FOUND", "no such generation");
}
