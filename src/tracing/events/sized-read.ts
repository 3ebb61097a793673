// Reads events within bounds of bytes: sizes are computed in Postgres before rows are fetched, the
// bytes are taken from the call's memory first, and rows come in portions.
// Source: docs/decisions.md, 15.

import type { PendingQuery } from "postgres";
import { createByteBudget, type Reservation } from "../../base/byte-budget.ts";
import { ServiceError } from "../../base/errors.ts";
import { eventReadBytesMax, eventOverheadBytes } from "../../base/limits.ts";
import { createPacer } from "../../base/pacer.ts";
import type { Database, Read, Sql } from "../../postgres/database.ts";
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

/** The call that reads; without one, nothing is cancelled, and memory is not counted. */
export type Reading = {
  /** Organization of the project. */
  readonly organization?: string;
  readonly signal?: AbortSignal | undefined;
  /** Holds what is read until it is given back, at the latest when the call ends. */
  readonly memory?: Reservation | undefined;
};

/** What a call reads a project's events with. */
export type ReadContext = {
  readonly projectId: string;
  readonly read: Read;
  readonly memory: Reservation;
};

/** Returns what a call reads a project's events with. */
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
  /** Rows that the source has at most. */
  readonly rowsMax: number;
  /** Bytes of rows that one statement sends; a larger row is sent by itself. */
  readonly bytesMax: number;
  /** Told of sizes before rows are sent, and of containers before they are parsed; may throw. */
  readonly admit: (size: Size) => void;
};

/** Bytes of events with their records; objects and arrays in them. */
export type Size = { readonly bytes: number; readonly containers: number };

/** Events that follow each other. */
export type Part = {
  readonly events: readonly SelectedEvent[];
  /** Their rows, for the extras. */
  readonly rows: readonly SizedRow[];
  /** Bytes of the call's memory that the events hold. */
  readonly heldBytes: number;
};

/**
 * Bytes that a statement may make into text, by the estimate, to send of it what fits: the first
 * shares them among the rows that it may have, later ones have rows that fit together.
 */
const firstEstimateMax = 32_000_000;
const portionEstimateMax = 16_000_000;
const portionIdsMax = 2_000;
/** Statements for one huge event that has grown each time after it was measured. */
const loneAttemptsMax = 3;

/** Rows of a source: how many there are, which is the last, and their events. */
export type Found = {
  readonly rows: readonly SizedRow[];
  /**
   * Yields the events in the order of the source, once. Rows that one statement cannot send are
   * read by their ids, as they are then; those that are gone by then are left out. Throws
   * ANSWER_TOO_LARGE for one event past its own bound.
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

/** Returns an event, or undefined without one. Throws ANSWER_TOO_LARGE past its own bound. */
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

/** Taken from the call's memory for an event whose size is not known yet. */
const usualEventBytes = 1_000_000;

/** A row that is yet to be read, and what is known of its size. */
type Waiting = {
  readonly index: number;
  readonly eventId: string;
  /** Null where it was not measured. */
  readonly bytes: number | null;
  readonly estimate: number;
};

type Decoded = { readonly eventId: string; readonly event: SelectedEvent; readonly bytes: number };

/** Which of the rows have been read, and how far all have been. */
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
    /** Notes what became of rows that were asked for first: those that are absent are gone. */
    settle(asked: readonly Waiting[], found: readonly SizedRow[]) {
      const unsent = new Map<string, SizedRow>();
      for (const row of found) if (!row.is_sent) unsent.set(unescapeText(row.event_id), row);
      const left = asked.flatMap((one): Waiting[] => {
        const row = unsent.get(one.eventId);
        return row === undefined ? [] : [{ ...one, ...sizeOf(row) }];
      });
      waiting = [...left, ...waiting.slice(asked.length)];
    },
    /** Yields the events up to the first that is yet to be read, once each. */
    *takeReady(): Generator<Part, void, undefined> {
      const end = waiting[0]?.index ?? rows.length;
      const ready = decoded.slice(taken, end);
      const found = ready.filter((one) => one !== undefined);
      const ofFound = rows.slice(taken, end).filter((_, index) => ready[index] !== undefined);
      decoded.fill(undefined, taken, end);
      taken = end;
      if (found.length === 0) return;
      yield {
        events: found.map(({ event }) => event),
        rows: ofFound,
        heldBytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
      };
    },
  };
}

function sizeOf({ bytes, estimate }: SizedRow): Pick<Waiting, "bytes" | "estimate"> {
  return { bytes, estimate };
}

/** Returns how many of the first rows one statement is asked for: at least one. */
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

/** Reads rows by their ids; one that is larger than a statement sends is measured first, alone. */
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
    // Zero bytes are sent of a row that is only measured.
    const limits = { estimateMax: Number.MAX_SAFE_INTEGER, bytesMax: bytes ?? 0 };
    const rows = await fetchRows(context, { projections }, source, limits);
    const [row] = rows;
    if (row === undefined || row.is_sent) return rows;
    if (bytes === null) admitMeasured(request, row);
    ({ bytes } = row);
  }
  throw new Error("an event grew each time it was measured");
}

/** Rows that say whether they were sent, and with how many bytes. */
type MaybeSent = { readonly is_sent: boolean; readonly bytes: number | null };

/**
 * Runs a statement that sends at most `bytesMax`. They are taken from the call's memory in its
 * turn, and what it did not send is given back.
 */
export async function readWithin<T extends MaybeSent>(
  { read, memory }: Pick<ReadContext, "read" | "memory">,
  bytesMax: number,
  statement: (sql: Sql) => PendingQuery<T[]>,
): Promise<readonly T[]> {
  let reserved = 0;
  try {
    const rows = await read((sql) => {
      // Taken once, also where the statement is run again.
      if (reserved === 0) memory.grow(bytesMax);
      reserved = bytesMax;
      return statement(sql);
    });
    for (const { is_sent, bytes } of rows) if (is_sent) reserved -= bytes ?? 0;
    return rows;
  } catch (error) {
    throw isTooLong(error) ? unwritable(error) : error;
  } finally {
    memory.shrink(reserved);
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

/** Makes the rows that were sent into events, with turns of the event loop between. */
async function decode(
  { memory }: ReadContext,
  { admit }: ReadRequest,
  rows: readonly SizedRow[],
): Promise<Decoded[]> {
  const pacer = createPacer();
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

/** program_limit_exceeded: a text of more than a gigabyte, which numbers written out may be. */
function isTooLong(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "54000";
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
