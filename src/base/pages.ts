// Keyset pages of lists: page size, start position and next cursor. Cursors are opaque to clients,
// name their list and hold nothing secret. Source: docs/spec.md, "Control plane";
// docs/decisions.md, 28.

import { pageLimitMax } from "./field-limits.ts";
import { refuse } from "./errors.ts";
import { isUuid } from "./ids.ts";

/** A smaller page costs more round trips than rows; a larger page holds a connection too long. */
const pageLimitDefault = 100;

/** Position of a row in a list: its creation time in Unix microseconds, then its id. */
export type Position = { readonly createdAtUs: number; readonly id: string };

/** Rows of a page: at most `limit`, after the position. */
export type PageOptions = { readonly limit: number; readonly after: Position | undefined };

export type Page<T> = {
  readonly items: readonly T[];
  /** Absent at the end. */
  readonly nextCursor: string | undefined;
};

/** Returns a text as a cursor. */
export function toCursor(text: string): string {
  return Buffer.from(text).toString("base64url");
}

/** Returns a cursor that continues after a key of a list, such as a name or a number. */
export function formatKeyCursor(list: string, key: string | number): string {
  return toCursor(`${list}:${key}`);
}

/**
 * Reads a cursor of `toCursor` by `parse`, which returns undefined for another text. Throws
 * INVALID_ARGUMENT, naming `cursor`.
 */
export function fromCursor<Key>(cursor: string, parse: (text: string) => Key | undefined): Key {
  const key = parse(Buffer.from(cursor, "base64url").toString());
  return key ?? refuse("cursor", "it is not a next_cursor");
}

/**
 * Reads a cursor of a list by `parse`, which returns undefined for text that is not a key of the
 * list. Throws INVALID_ARGUMENT, naming `cursor`, also for a cursor of another list.
 */
export function parseKeyCursor<Key>(
  list: string,
  cursor: string,
  parse: (text: string) => Key | undefined,
): Key {
  const head = `${list}:`;
  return fromCursor(cursor, (text) =>
    text.startsWith(head) ? parse(text.slice(head.length)) : undefined,
  );
}

/** Returns a whole number from 1 to `max`; undefined for other text. */
export function parseSequence(text: string, max = Number.MAX_SAFE_INTEGER): number | undefined {
  return /^[1-9]\d{0,15}$/.test(text) && Number(text) <= max ? Number(text) : undefined;
}

/** Returns a text that rows may have as a name: not empty, without NUL, which Postgres refuses. */
export function parseName(text: string): string | undefined {
  return text === "" || text.includes("\0") ? undefined : text;
}

/** Returns a cursor that continues after `position` of a list. */
export function formatCursor(list: string, { createdAtUs, id }: Position): string {
  return formatKeyCursor(list, JSON.stringify([createdAtUs, id]));
}

/** Reads a cursor of a list. Throws INVALID_ARGUMENT, naming `cursor`, for any other text. */
export function parseCursor(list: string, cursor: string): Position {
  return parseKeyCursor(list, cursor, parsePosition);
}

/** Returns the value of JSON text; undefined for invented text. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parsePosition(text: string): Position | undefined {
  const parts = parseJson(text);
  const [createdAtUs, id] = Array.isArray(parts) ? (parts as unknown[]) : [];
  const isPosition = Number.isSafeInteger(createdAtUs) && typeof id === "string" && isUuid(id);
  return isPosition ? { createdAtUs: createdAtUs as number, id } : undefined;
}

/** Page fields of a list request. */
export type PageRequest = {
  /** 1 to 1,000; 100 if absent. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
};

/** Reads the page of a request for `list`. Throws INVALID_ARGUMENT naming the wrong field. */
export function parsePageOptions(list: string, { limit, cursor }: PageRequest): PageOptions {
  return {
    limit: parsePageLimit(limit),
    after: cursor === undefined ? undefined : parseCursor(list, cursor),
  };
}

/** Returns the limit of a page. Throws INVALID_ARGUMENT if it is out of range. */
export function parsePageLimit(limit = pageLimitDefault): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= pageLimitMax) return limit;
  return refuse("limit", `must be from 1 to ${pageLimitMax}`);
}

/**
 * Returns the page of rows of `list` that were read with one more than `limit`, to detect a next
 * page.
 */
export function toPage<Row extends Position>(
  list: string,
  rows: readonly Row[],
  limit: number,
): Page<Row> {
  return toPageBy(rows, limit, (row) => formatCursor(list, row));
}

/** Returns a page like `toPage`, of a list that is ordered by another key. */
export function toPageBy<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (row: Row) => string,
): Page<Row> {
  const items = rows.slice(0, limit);
  const last = rows.length > limit ? items.at(-1) : undefined;
  return { items, nextCursor: last && cursorOf(last) };
}

/** Returns the answer to a list request, with a message for each item. */
export function toPageAnswer<T, Message>(
  { items, nextCursor }: Page<T>,
  toMessage: (item: T) => Message,
) {
  return {
    success: true,
    data: items.map(toMessage),
    ...(nextCursor !== undefined && { nextCursor }),
  };
}

/** Reads `list` to its end by `read`, for commands. */
export async function listAll<T>(
  list: string,
  read: (page: PageOptions) => Promise<Page<T>>,
): Promise<readonly T[]> {
  const all: T[] = [];
  for (let cursor: string | undefined; ;) {
    const { items, nextCursor } = await read(
      parsePageOptions(list, { limit: pageLimitMax, cursor }),
    );
    all.push(...items);
    if (nextCursor === undefined) return all;
    cursor = nextCursor;
  }
}
