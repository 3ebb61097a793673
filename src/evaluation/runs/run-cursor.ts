// Cursors of lists of runs: the order, the number of the next page and the place of the last run.

import { refuse } from "../../base/errors.ts";
import { isRecordId } from "../../base/ids.ts";
import { tryParseJson } from "../../base/json.ts";
import { fromCursor, toCursor } from "../../base/pages.ts";
import { type RunOrder, type RunPlace, sortColumns } from "./store.ts";

/** Where the next page begins. */
export type RunCursor = RunPlace & {
  /** Number of the page, from 2. */
  readonly page: number;
};

/** Returns a cursor that continues after a run. */
export function formatRunCursor(cursor: RunCursor & RunOrder): string {
  const { sortBy, isAscending, page, sortKey, runId } = cursor;
  return toCursor(JSON.stringify([sortBy, isAscending, page, sortKey, runId]));
}

/** Reads a cursor. Throws INVALID_ARGUMENT, naming `cursor`, if it is none of this order. */
export function parseRunCursor(cursor: string, order: RunOrder): RunCursor {
  const { sortBy, isAscending, ...place } = fromCursor(cursor, parse);
  if (sortBy !== order.sortBy || isAscending !== order.isAscending) {
    refuse("cursor", "it is of a list with another sort_by or sort_order");
  }
  return place;
}

function parse(text: string): (RunCursor & RunOrder) | undefined {
  const parts: unknown = tryParseJson(text);
  const [sortBy, isAscending, page, sortKey, runId] = Array.isArray(parts)
    ? (parts as unknown[])
    : [];
  if (typeof sortBy !== "string" || !Object.hasOwn(sortColumns, sortBy)) return undefined;
  const column = sortBy as RunOrder["sortBy"];
  const isKey = sortColumns[column].isTime ? isMicroseconds(sortKey) : isStoredText(sortKey);
  const isPlace = isKey && typeof runId === "string" && isRecordId(runId);
  const number = Number.isSafeInteger(page) ? Number(page) : 0;
  if (!isPlace || number < 2 || typeof isAscending !== "boolean") return undefined;
  return { sortBy: column, isAscending, page: number, sortKey: String(sortKey), runId };
}

function isMicroseconds(key: unknown): boolean {
  return typeof key === "string" && /^\d{1,16}$/.test(key);
}

/** Returns true for text that Postgres can hold. */
function isStoredText(key: unknown): boolean {
  return typeof key === "string" && key.isWellFormed() && !key.includes("\0");
}
