// Reads the rows of an answer up to a bound of bytes, so that one page of huge events cannot take
// the memory of the whole service. Called by the stores of export and sessions.

import type { PendingQuery } from "postgres";
import { ServiceError } from "../../base/errors.ts";
import { answerBytesMax } from "../../base/limits.ts";
import { buckets } from "./event.ts";
import { type SelectedEvent, type SelectedRow, toSelectedEvent } from "./event-row.ts";

/** Rows asked for at a time: what is held beyond the bound is at most one such portion. */
const portionRows = 50;

/**
 * Returns the events of a statement. Throws ANSWER_TOO_LARGE past the bound, since a cut answer
 * would look whole. `signal` cancels the statement.
 */
export async function readBounded(
  statement: PendingQuery<SelectedRow[]>,
  signal?: AbortSignal,
): Promise<SelectedEvent[]> {
  signal?.throwIfAborted();
  const cancel = (): void => statement.cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    const events: SelectedEvent[] = [];
    let bytes = 0;
    for await (const rows of statement.cursor(portionRows)) {
      for (const row of rows) {
        bytes += payloadBytes(row);
        events.push(toSelectedEvent(row));
      }
      if (bytes > answerBytesMax) throw tooLarge();
    }
    return events;
  } catch (error) {
    // Cancelled by us: nothing of the database failed.
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

function payloadBytes(row: SelectedRow): number {
  let bytes = 0;
  for (const bucket of buckets) {
    const text = row[bucket];
    if (typeof text === "string") bytes += text.length;
  }
  return bytes;
}

function tooLarge(): ServiceError {
  const message =
    `the answer is larger than ${answerBytesMax} bytes; ask for a smaller limit, fewer ` +
    "projections or view=skeleton, or use POST /v1/events/stream";
  return new ServiceError("ANSWER_TOO_LARGE", message);
}
