// Keyset cursors: the end of a page, bound to the request it belongs to. Clients treat them as
// opaque; they contain nothing secret.

import { createHash } from "node:crypto";
import { ServiceError } from "../../base/errors.ts";
import type { EventPlace } from "./place-store.ts";

/** Last row of a page. */
export type Position = EventPlace;

/** Returns a cursor that continues after `position`, for the same `question` only. */
export function formatCursor(position: Position, question: unknown): string {
  const parts = [position.startTimeUs, position.eventId, hashOf(question)];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/**
 * Reads a cursor. Throws INVALID_ARGUMENT if it is malformed or belongs to another question: other
 * filters, dates or project.
 */
export function parseCursor(cursor: string, question: unknown): Position {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, "base64url").toString());
  } catch (cause) {
    throw new ServiceError("INVALID_ARGUMENT", "cursor: it is not a next_cursor", { cause });
  }
  const [startTimeUs, eventId, hash] = Array.isArray(parts) ? (parts as unknown[]) : [];
  if (!Number.isSafeInteger(startTimeUs) || typeof eventId !== "string") {
    throw new ServiceError("INVALID_ARGUMENT", "cursor: it is not a next_cursor");
  }
  if (hash !== hashOf(question)) {
    throw new ServiceError(
      "INVALID_ARGUMENT",
      "cursor: it belongs to a request with other filters or dates",
    );
  }
  return { startTimeUs: startTimeUs as number, eventId };
}

function hashOf(question: unknown): string {
  return createHash("sha256").update(JSON.stringify(question)).digest("base64url").slice(0, 16);
}
