// Keyset cursors: the end of a page, bound to the request it belongs to. Clients treat them as
// opaque; they contain nothing secret.

import { createHash } from "node:crypto";
import { refuse } from "../../base/errors.ts";
import { isJsonArray, tryParseJson } from "../../base/json.ts";
import { fromCursor, toCursor } from "../../base/pages.ts";
import type { StoredEvent } from "../events/event.ts";
import type { EventPlace } from "./place-store.ts";

/** Last row of a page. */
export type Position = EventPlace;

/** Returns the position of an event. */
export function positionOf(event: Pick<StoredEvent, "start_time" | "event_id">): Position {
  return { startTimeUs: Math.round(event.start_time * 1000), eventId: event.event_id };
}

/** Returns a cursor that continues after `position`, for the same `question` only. */
export function formatCursor(position: Position, question: unknown): string {
  return toCursor(JSON.stringify([position.startTimeUs, position.eventId, hashOf(question)]));
}

/**
 * Reads a cursor. Throws INVALID_ARGUMENT if it is malformed or belongs to another question: other
 * filters, dates or project.
 */
export function parseCursor(cursor: string, question: unknown): Position {
  const { hash, ...position } = fromCursor(cursor, parse);
  if (hash !== hashOf(question)) {
    refuse("cursor", "it belongs to a request with other filters or dates");
  }
  return position;
}

function parse(text: string): (Position & { readonly hash: unknown }) | undefined {
  const parts = tryParseJson(text);
  const [startTimeUs, eventId, hash] = isJsonArray(parts) ? parts : [];
  if (!Number.isSafeInteger(startTimeUs) || typeof eventId !== "string") return undefined;
  return { startTimeUs: startTimeUs as number, eventId, hash };
}

function hashOf(question: unknown): string {
  return createHash("sha256").update(JSON.stringify(question)).digest("base64url").slice(0, 16);
}
