// Reads the events of one answer (page, list, tree or skeleton) into memory, within its bounds.
// Source: docs/decisions.md, 15.1.

import { ServiceError } from "../../base/errors.ts";
import { answerBytesMax, answerContainersMax } from "../../base/limits.ts";
import type { SelectedEvent } from "./event-row.ts";
import {
  findRows,
  type Part,
  type ReadContext,
  type ReadRequest,
  type Size,
} from "./sized-read.ts";
import type { SizedRow } from "./sized-store.ts";

export type AnswerRequest = Omit<ReadRequest, "bytesMax" | "admit">;

export type Answer = Omit<Part, "heldBytes">;

/** Bytes of a statement per row that it may return: usual events of a page fit one statement. */
const bytesOfRow = 8_000;
const statementBytesMin = 1_000_000;
const statementBytesMax = 16_000_000;

/**
 * Reads the events of a source in its order. Throws ANSWER_TOO_LARGE past the bounds of an answer,
 * because a truncated answer would look complete.
 */
export async function readAnswer(context: ReadContext, request: AnswerRequest): Promise<Answer> {
  const events: SelectedEvent[] = [];
  const rows: SizedRow[] = [];
  const wanted = Math.max(statementBytesMin, request.rowsMax * bytesOfRow);
  const { parts } = await findRows(context, {
    ...request,
    bytesMax: Math.min(statementBytesMax, wanted),
    admit: createTally(),
  });
  const hasExtras = (request.extras ?? []).length > 0;
  for await (const part of parts) {
    for (const event of part.events) events.push(event);
    if (hasExtras) rows.push(...part.rows);
  }
  return { events, rows };
}

/**
 * Returns a function that adds up sizes and throws if the total exceeds the bounds of an answer.
 */
function createTally(): (size: Size) => void {
  let bytes = 0;
  let containers = 0;
  return (size) => {
    bytes += size.bytes;
    containers += size.containers;
    if (bytes > answerBytesMax) throw answerTooLarge(`${answerBytesMax} bytes`);
    if (containers > answerContainersMax) {
      throw answerTooLarge(`${answerContainersMax} objects and arrays`);
    }
  };
}

/** Returns the error for an answer larger than its limit. */
export function answerTooLarge(limit: string): ServiceError {
  const message =
    `the answer is larger than ${limit}; ask for a smaller limit, fewer ` +
    "projections or view=skeleton, or use POST /v1/events/stream";
  return new ServiceError("ANSWER_TOO_LARGE", message);
}
