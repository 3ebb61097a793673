// Batches of events: each event is stored or rejected by itself, optionally all in one session.
// Source: docs/spec.md, POST /events/batch; docs/decisions.md, 4, 6 and 9.

import { refuse, ServiceError } from "../../base/errors.ts";
import { createUuid, isRecordId, type ProjectId } from "../../base/ids.ts";
import { createPacer } from "../../base/pacer.ts";
import type { Database, Sql } from "../../postgres/database.ts";
import { type EventWrite, isSession } from "./event.ts";
import { type EventInput, parseCosted, parseSession, type SessionInput } from "./parse-event.ts";
import type { Origin, Recorder } from "./record.ts";
import { defaultSessionId } from "./stored-event.ts";
import { listSessionIds, listSessionSources } from "./store.ts";

/** An event of a batch, or the fault that the transport found in its JSON. */
export type BatchItem =
  | {
      readonly index: number;
      /** Place inside the item of the request, such as `.children[0]`; absent for the item. */
      readonly within?: string;
      readonly input: EventInput;
    }
  | BatchFault;

export type BatchFault = { readonly index: number; readonly fault: string };

export type BatchOptions = Origin & {
  /** Name of the list in the request, for error causes. */
  readonly field?: string;
  /** True if all events join one session, made from `sessionProperties` or the first event. */
  readonly isSingleSession?: boolean;
  readonly sessionProperties?: SessionInput | undefined;
  /** Session that replaces the sessions of the events. */
  readonly sessionId?: string;
  /**
   * True to reject an event if neither it nor its session has a source; otherwise it is `unknown`.
   */
  readonly requiresSource?: boolean;
};

export type BatchResult = {
  readonly eventIds: string[];
  readonly sessionId: string | undefined;
  /** One text per rejected event: its index and one cause. */
  readonly errors: string[];
};

export type BatchWriter = (
  projectId: ProjectId,
  items: readonly BatchItem[],
  options?: BatchOptions,
) => Promise<BatchResult>;

type Parsed = {
  readonly index: number;
  /** Where the event stands in the request, such as `events[3]`. */
  readonly place: string;
  readonly write: EventWrite;
  readonly cost: number;
};

/**
 * Returns the writer of batches. It stores the valid events of a batch, and throws BATCH_REJECTED
 * with the causes if none is valid.
 */
export function createBatchWriter(database: Database, recorder: Recorder): BatchWriter {
  return async (projectId, items, options = {}) => {
    const { field = "events" } = options;
    if (items.length === 0) refuse(field, "is empty");
    const { sessionId, session } = await joinSession(database, projectId, items, options);
    const parsed: Parsed[] = [];
    const faults: BatchFault[] = [];
    const pacer = createPacer(`project ${projectId}`);
    for (const item of items) {
      if (pacer.due()) await pacer.rest();
      const result = parseItem(item, sessionId, field);
      if ("write" in result) parsed.push(result);
      else faults.push(result);
    }
    const sourced = await addSources(database, projectId, parsed, session, options);
    faults.push(...sourced.faults);
    const writes = await placeInSessions(
      database,
      projectId,
      sourced.parsed.map(({ write }) => write),
    );
    const costs = sourced.parsed.map(({ cost }) => cost);
    const refused = await (session
      ? recorder.record(projectId, [session, ...writes], { ...options, costs: [0, ...costs] })
      : recorder.record(projectId, writes, { ...options, costs }));
    const stored: EventWrite[] = [];
    sourced.parsed.forEach(({ index, place }, at) => {
      const write = writes[at];
      const cause = refused.get(session ? at + 1 : at);
      if (cause !== undefined) faults.push({ index, fault: joinFault(place, cause) });
      else if (write !== undefined) stored.push(write);
    });
    const errors = faults.toSorted((a, b) => a.index - b.index).map(({ fault }) => fault);
    if (stored.length === 0) throw batchRejected(errors);
    return {
      eventIds: stored.map((write) => write.event_id),
      sessionId: sessionId ?? stored[0]?.session_id,
      errors,
    };
  };
}

/**
 * Returns the writes with their sessions. An event without one keeps its stored session or gets a
 * new one.
 */
export async function placeInSessions(
  database: Database,
  projectId: ProjectId,
  writes: readonly EventWrite[],
): Promise<EventWrite[]> {
  const homeless = writes.filter((write) => write.session_id === undefined);
  if (homeless.length === 0) return [...writes];
  const ids = homeless.map((write) => write.event_id);
  const find = (sql: Sql) => listSessionIds(sql, projectId, ids);
  const known = await database.inTurn(find, { owner: projectId });
  return writes.map((write) => ({
    ...write,
    session_id: write.session_id ?? known.get(write.event_id) ?? defaultSessionId(write.event_id),
  }));
}

// Returns the session that a batch joins, if any, and the write that creates it, if properties are
// given.
async function joinSession(
  database: Database,
  projectId: ProjectId,
  items: readonly BatchItem[],
  { isSingleSession = false, sessionProperties, sessionId }: BatchOptions,
): Promise<{ sessionId: string | undefined; session: EventWrite | undefined }> {
  if (!isSingleSession) return { sessionId, session: undefined };
  const given = sessionProperties?.session_id || sessionProperties?.event_id || sessionId;
  const id = given || (await sessionOf(database, projectId, items));
  if (sessionProperties === undefined) return { sessionId: id, session: undefined };
  const session = parseSession({ ...sessionProperties, session_id: id }, "session_properties.");
  return { sessionId: session.event_id, session };
}

// A repeated batch must find the session that it created, by the ids of its events.
async function sessionOf(
  database: Database,
  projectId: ProjectId,
  items: readonly BatchItem[],
): Promise<string> {
  const inputs = items.flatMap((item) => ("input" in item ? [item.input] : []));
  const named = inputs.find(({ session_id }) => session_id && isRecordId(session_id));
  if (named?.session_id) return named.session_id;
  const eventId = inputs.find(({ event_id }) => event_id && isRecordId(event_id))?.event_id;
  if (!eventId) return createUuid();
  const find = (sql: Sql) => listSessionIds(sql, projectId, [eventId]);
  const known = await database.inTurn(find, { owner: projectId });
  return known.get(eventId) ?? defaultSessionId(eventId);
}

// An event's source is its own or its session's (docs/decisions.md, 4).
async function addSources(
  database: Database,
  projectId: ProjectId,
  parsed: readonly Parsed[],
  session: EventWrite | undefined,
  { requiresSource = false, sessionProperties }: BatchOptions,
): Promise<{ parsed: Parsed[]; faults: BatchFault[] }> {
  const sources = new Map<string, string>();
  for (const { write } of session ? [{ write: session }, ...parsed] : parsed) {
    if (isSession(write) && write.source) sources.set(write.event_id, write.source);
  }
  const wanted = parsed
    .filter(({ write }) => write.source === undefined)
    .map(({ write }) => write.session_id ?? "")
    .filter((id) => id !== "" && !sources.has(id));
  if (wanted.length > 0) {
    const list = (sql: Sql) => listSessionSources(sql, projectId, [...new Set(wanted)]);
    const stored = await database.inTurn(list, { owner: projectId });
    for (const [id, source] of stored) sources.set(id, source);
  }
  const result: { parsed: Parsed[]; faults: BatchFault[] } = { parsed: [], faults: [] };
  for (const one of parsed) {
    const { index, place, write } = one;
    const source = sources.get(write.session_id ?? "") ?? sessionProperties?.source;
    if (write.source !== undefined) result.parsed.push(one);
    else if (source) result.parsed.push({ ...one, write: { ...write, source } });
    else if (!requiresSource) result.parsed.push(one);
    else result.faults.push({ index, fault: `${place}.source: is required in a batch` });
  }
  return result;
}

/**
 * Joins a path and a fault. A fault of an inner field begins with the field's name (`start_time:
 * …`).
 */
export function joinFault(path: string, fault: string): string {
  return /^[\w.[\]]+: /.test(fault) ? `${path}.${fault}` : `${path}: ${fault}`;
}

function parseItem(
  item: BatchItem,
  sessionId: string | undefined,
  field: string,
): Parsed | BatchFault {
  if ("fault" in item) return item;
  const { index, within = "", input } = item;
  const place = `${field}[${index}]${within}`;
  try {
    const joined = sessionId === undefined ? input : { ...input, session_id: sessionId };
    return { index, place, ...parseCosted(joined, `${place}.`) };
  } catch (error) {
    if (error instanceof ServiceError) return { index, fault: error.message };
    throw error;
  }
}

function batchRejected(errors: readonly string[]): ServiceError {
  return new ServiceError("BATCH_REJECTED", "no event of the batch could be stored", {
    details: { event_ids: [], errors, success: false },
  });
}
