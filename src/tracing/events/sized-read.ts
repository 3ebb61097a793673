// Reads events within bounds of bytes: Postgres computes sizes before rows are fetched, the bytes
// are reserved in the call's memory first, and rows come in portions.
// Source: docs/decisions.md, 15.1.

import type { PendingQuery } from "postgres";
import { createByteBudget, type Reservation } from "../../base/byte-budget.ts";
import { ServiceError } from "../../base/errors.ts";
import { eventReadBytesMax, eventOverheadBytes } from "../../base/limits.ts";
import { createPacer } from "../../base/pacer.ts";
import type { Database, Read, Sql } from "../../postgres/database.ts";
import { codeOf } from "../../base/error-code.ts";
import { containerBytes, countContainers } from "./decoded-size.ts";
import { type SelectedEvent, toSelectedEvent } from "./event-row.ts";
import { unescapeText } from "./postgres-text.ts";
import {
  type RowShape,
  type RowSource,
  rowsOfIds,
  type SizedRow,
  sizedRows,
  type SizeLimits,
} from "./sized-store.ts";

/** The call that reads. Without its fields nothing is cancelled and no memory is counted. */
export type Reading = {
  /** Organization that owns the project. */
  readonly organization?: string;
  readonly signal?: AbortSignal | undefined;
  /** Holds the memory of rows until it is released, at the latest at the end of the call. */
  readonly memory?: Reservation | undefined;
};

/** Reader and memory of a call, for one project's events. */
export type ReadContext = {
  readonly projectId: string;
  readonly read: Read;
  readonly memory: Reservation;
};

/** Creates the read context of a call for one project. */
export function createReadContext(
  database: Pick<Database, "reader">,
  projectId: string,
  { organization, signal, memory = createByteBudget(Infinity).open() }: Reading = {},
): ReadContext {
  const read = database.reader({ owner: projectId, organization, signal });
  return { projectId, read, memory };
}

export type ReadRequest = RowShape & {
  readonly source: RowSource;
  /** Maximum number of rows of the source. */
  readonly rowsMax: number;
  /** Maximum bytes of rows that one statement sends; a larger row is sent by itself. */
  readonly bytesMax: number;
  /**
   * Called with sizes before rows are sent, and with containers before they are parsed; may throw.
   */
  readonly admit: (size: Size) => void;
};

/** Bytes of events, including their overhead, and the number of objects and arrays in them. */
export type Size = { readonly bytes: number; readonly containers: number };

/** Consecutive events. */
export type Part = {
  readonly events: readonly SelectedEvent[];
  /** Rows of the events, for the extras. */
  readonly rows: readonly SizedRow[];
  /** Bytes of the call's memory that the events hold. */
  readonly heldBytes: number;
};

/**
 * Maximum estimated bytes that a statement converts to text in order to select the rows that fit.
 * The first statement divides them among its rows; later statements ask for rows that fit together.
 */
const firstEstimateMax = 32_000_000;
const portionEstimateMax = 16_000_000;
const portionIdsMax = 2_000;
/** Maximum statements for one huge event that grows after each measurement. */
const loneAttemptsMax = 3;

/** Rows of a source: their number, the last one, and their events. */
export type Found = {
  readonly rows: readonly SizedRow[];
  /**
   * Yields the events in the order of the source, once. Rows that one statement cannot send are
   * read by id later, in their current state; rows deleted meanwhile are left out. Throws
   * ANSWER_TOO_LARGE for one event past the bound of an event.
   */
  readonly parts: AsyncGenerator<Part, void, undefined>;
};

/** Finds the rows of a source and reads them. */
export async function findRows(context: ReadContext, request: ReadRequest): Promise<Found> {
  const { source, rowsMax, bytesMax } = request;
  const estimateMax = Math.floor(firstEstimateMax / Math.max(1, rowsMax));
  const rows = await fetchRows(context, request, source, { estimateMax, bytesMax });
  for (const row of rows) admitMeasured(request, row);
  return { rows, parts: readParts(context, request, rows) };
}

async function* readParts(
  context: ReadContext,
  request: ReadRequest,
  first: readonly SizedRow[],
): AsyncGenerator<Part, void, undefined> {
  const { bytesMax } = request;
  const progress = createProgress(first);
  progress.put(await decode(context, request, first));
  yield* progress.takeReady();
  while (progress.waiting.length > 0) {
    const asked = progress.waiting.slice(0, countFitting(progress.waiting, bytesMax));
    const rows = await readPortion(context, request, asked);
    const sent = await decode(context, request, rows);
    progress.settle(asked, rows);
    progress.put(sent);
    yield* progress.takeReady();
  }
}

/**
 * Returns an event; undefined if there is none. Throws ANSWER_TOO_LARGE past the bound of an event.
 */
export async function readEvent(
  context: ReadContext,
  eventId: string,
): Promise<SelectedEvent | undefined> {
  const { parts } = await findRows(context, {
    source: rowsOfIds(context.projectId, [eventId]),
    rowsMax: 1,
    projections: undefined,
    bytesMax: usualEventBytes,
    admit: () => undefined,
  });
  const part = await parts.next();
  return part.done === true ? undefined : part.value.events[0];
}

/** Bytes reserved in the call's memory for an event of unknown size. */
const usualEventBytes = 1_000_000;

/** A row still to be read, with its known sizes. */
type Waiting = {
  readonly index: number;
  readonly eventId: string;
  /** Size of the row; null if Postgres has not measured it. */
  readonly bytes: number | null;
  readonly estimate: number;
};

type Decoded = { readonly eventId: string; readonly event: SelectedEvent; readonly bytes: number };

/** Tracks the rows that have been read, and the position up to which all have. */
function createProgress(rows: readonly SizedRow[]) {
  const indexes = new Map<string, number>();
  const decoded = new Array<Decoded | undefined>(rows.length);
  let waiting = rows.flatMap((row, index): Waiting[] => {
    const eventId = unescapeText(row.event_id);
    indexes.set(eventId, index);
    return row.is_sent ? [] : [{ ...sizeOf(row), index, eventId }];
  });
  let taken = 0;
  return {
    get waiting(): readonly Waiting[] {
      return waiting;
    },
    put(list: readonly Decoded[]) {
      for (const one of list) {
        const index = indexes.get(one.eventId);
        if (index !== undefined) decoded[index] = one;
      }
    },
    /** Records the result for the rows asked for. Rows that are absent have been deleted. */
    settle(asked: readonly Waiting[], found: readonly SizedRow[]) {
      const unsent = new Map<string, SizedRow>();
      for (const row of found) if (!row.is_sent) unsent.set(unescapeText(row.event_id), row);
      const left = asked.flatMap((one): Waiting[] => {
        const row = unsent.get(one.eventId);
        return row === undefined ? [] : [{ ...one, ...sizeOf(row) }];
      });
      waiting = [...left, ...waiting.slice(asked.length)];
    },
    /** Returns the events up to the first unread row, once each, as a part if there are any. */
    takeReady(): readonly Part[] {
      const end = waiting[0]?.index ?? rows.length;
      const ready = decoded.slice(taken, end);
      const found = ready.filter((one) => one !== undefined);
      const ofFound = rows.slice(taken, end).filter((_, index) => ready[index] !== undefined);
      decoded.fill(undefined, taken, end);
      taken = end;
      if (found.length === 0) return [];
      const heldBytes = found.reduce((sum, { bytes }) => sum + bytes, 0);
      return [{ events: found.map(({ event }) => event), rows: ofFound, heldBytes }];
    },
  };
}

function sizeOf({ bytes, estimate }: SizedRow): Pick<Waiting, "bytes" | "estimate"> {
  return { bytes, estimate };
}

/** Returns how many of the first rows to ask of one statement: at least one. */
function countFitting(waiting: readonly Waiting[], bytesMax: number): number {
  let estimates = 0;
  let bytes = 0;
  const end = waiting.findIndex((one, index) => {
    estimates += one.estimate;
    bytes += one.bytes ?? 0;
    const isOver = estimates > portionEstimateMax || bytes > bytesMax;
    return index > 0 && (isOver || index >= portionIdsMax);
  });
  return end === -1 ? waiting.length : end;
}

/** Reads rows by id. A row larger than a statement sends is measured first, alone. */
async function readPortion(
  context: ReadContext,
  request: ReadRequest,
  asked: readonly Waiting[],
): Promise<readonly SizedRow[]> {
  const { bytesMax, projections } = request;
  const ids = asked.map(({ eventId }) => eventId);
  const source = rowsOfIds(context.projectId, ids);
  const [first] = asked;
  const isLone =
    asked.length === 1 &&
    first !== undefined &&
    (first.bytes === null ? first.estimate > portionEstimateMax : first.bytes > bytesMax);
  if (isLone) return readLone(context, request, source, first);
  const limits = { estimateMax: portionEstimateMax, bytesMax };
  const rows = await fetchRows(context, { projections }, source, limits);
  const known = new Map(asked.map(({ eventId, bytes }) => [eventId, bytes]));
  for (const row of rows) {
    if (known.get(unescapeText(row.event_id)) === null) admitMeasured(request, row);
  }
  return rows;
}

async function readLone(
  context: ReadContext,
  request: ReadRequest,
  source: RowSource,
  first: Waiting,
): Promise<readonly SizedRow[]> {
  const { projections } = request;
  let bytes = first.bytes;
  for (let attempt = 1; attempt <= loneAttemptsMax; attempt += 1) {
    if (bytes !== null && bytes > eventReadBytesMax) throw eventTooLarge(first.eventId, bytes);
    // With 0 bytes, the row is measured and not sent.
    const limits = { estimateMax: Number.MAX_SAFE_INTEGER, bytesMax: bytes ?? 0 };
    const rows = await fetchRows(context, { projections }, source, limits);
    const [row] = rows;
    if (row === undefined || row.is_sent) return rows;
    if (bytes === null) admitMeasured(request, row);
    ({ bytes } = row);
  }
  throw new Error("an event grew each time it was measured");
}

/** A row that tells whether it was sent, and with how many bytes. */
type MaybeSent = { readonly is_sent: boolean; readonly bytes: number | null };

/**
 * Runs a statement that sends at most `bytesMax`. Reserves them in the call's memory once it runs,
 * and releases the bytes that were not sent.
 */
export async function readWithin<T extends MaybeSent>(
  { read, memory }: Pick<ReadContext, "read" | "memory">,
  bytesMax: number,
  statement: (sql: Sql) => PendingQuery<T[]>,
): Promise<readonly T[]> {
  let reserved = 0;
  try {
    const rows = await read((sql) => {
      // Reserved only once, even if the statement is retried.
      if (reserved === 0) memory.grow(bytesMax);
      reserved = bytesMax;
      return statement(sql);
    });
    for (const { is_sent, bytes } of rows) if (is_sent) reserved -= bytes ?? 0;
    return rows;
  } catch (error) {
    throw isTooLong(error) ? unwritable(error) : error;
  } finally {
    memory.giveBack(reserved);
  }
}

function fetchRows(
  context: ReadContext,
  { projections, extras = [] }: RowShape,
  source: RowSource,
  limits: SizeLimits,
): Promise<readonly SizedRow[]> {
  const shape = { projections, extras };
  return readWithin(context, limits.bytesMax, (sql) => sizedRows(sql, source, shape, limits));
}

function admitMeasured({ admit }: ReadRequest, { bytes }: SizedRow): void {
  if (bytes !== null) admit({ bytes: bytes + eventOverheadBytes, containers: 0 });
}

/** Converts the rows that were sent to events, with pauses for the event loop. */
async function decode(
  { memory }: ReadContext,
  { admit }: ReadRequest,
  rows: readonly SizedRow[],
): Promise<Decoded[]> {
  const pacer = createPacer(memory.holder);
  const decoded: Decoded[] = [];
  for (const row of rows) {
    if (!row.is_sent) continue;
    const containers = countContainers(row.payload ?? "");
    admit({ bytes: 0, containers });
    const ownBytes = eventOverheadBytes + containers * containerBytes;
    memory.grow(ownBytes);
    const event = toSelectedEvent(row);
    decoded.push({ eventId: event.event_id, event, bytes: ownBytes + (row.bytes ?? 0) });
    if (pacer.due()) await pacer.rest();
  }
  return decoded;
}

/**
 * Returns true for program_limit_exceeded: a text of more than a gigabyte, which numbers in full
 * digits can reach.
 */
function isTooLong(error: unknown): boolean {
  return codeOf(error) === "54000";
}

function unwritable(cause: unknown): ServiceError {
  const message =
    "an event has more than a gigabyte of text; use POST /v1/events/stream with projections " +
    "that leave its largest fields out";
  return new ServiceError("ANSWER_TOO_LARGE", message, { cause });
}

function eventTooLarge(eventId: string, bytes: number): ServiceError {
  const message =
    `event ${eventId} has ${bytes} bytes, more than ${eventReadBytesMax}; ` +
    "use POST /v1/events/stream with projections that leave its largest fields out";
  return new ServiceError("ANSWER_TOO_LARGE", message);
}
