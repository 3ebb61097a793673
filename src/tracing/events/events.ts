// Events: create, batch, enrich, update, get, delete, and their rules. Called by handlers.ts and
// the handlers of older clients' calls. Source: docs/spec.md, "Logging"; docs/decisions.md, 4 to 9.

import { ServiceError } from "../../base/errors.ts";
import type { ProjectId } from "../../base/ids.ts";
import type { Database } from "../../postgres/database.ts";
import { applyTotals } from "../sessions/totals-change.ts";
import type { EventWrite, StoredEvent } from "./event.ts";
import {
  type EventInput,
  parseEvent,
  parseSession,
  parseUpdate,
  type SessionInput,
} from "./parse-event.ts";
import type { Recorder } from "./record.ts";
import { defaultSessionId } from "./stored-event.ts";
import { deleteEvent, findEvent, listSessionIds, listSessionSources, lockEvents } from "./store.ts";

/** An event of a batch, or what the transport found wrong with its JSON. */
export type BatchItem = { readonly index: number; readonly input: EventInput } | BatchFault;

export type BatchFault = { readonly index: number; readonly fault: string };

export type BatchOptions = {
  /** Name of the list in the request, for the causes. */
  readonly field?: string;
  /** All events join this session; made from `sessionProperties` or the first event. */
  readonly isSingleSession?: boolean;
  readonly sessionProperties?: SessionInput | undefined;
  /** Session that replaces the events' own. */
  readonly sessionId?: string;
};

export type BatchResult = {
  readonly eventIds: string[];
  readonly sessionId: string | undefined;
  /** One text a rejected event: its index and one cause. */
  readonly errors: string[];
};

export type Events = ReturnType<typeof createEvents>;

/** Returns the events service. Every method acts on one project only, the caller's. */
export function createEvents(database: Database, recorder: Recorder) {
  /** Stores one event and returns its id. */
  async function create(projectId: ProjectId, input: EventInput): Promise<string> {
    const [write] = await withSessions(projectId, [parseEvent(input, "event.")]);
    if (write === undefined) throw new Error("one event in, none out");
    await recorder.record(projectId, [write]);
    return write.event_id;
  }

  /**
   * Stores the good events of a batch in one transaction. Throws BATCH_REJECTED, with the causes,
   * when none is good.
   */
  async function createBatch(
    projectId: ProjectId,
    items: readonly BatchItem[],
    options: BatchOptions = {},
  ): Promise<BatchResult> {
    const { field = "events" } = options;
    if (items.length === 0) throw new ServiceError("INVALID_ARGUMENT", `${field}: is empty`);
    const { sessionId, session } = joinedSession(items, options);
    const faults: BatchFault[] = [];
    const parsed: { index: number; write: EventWrite }[] = [];
    for (const item of items) {
      const result = parseItem(item, sessionId, `${field}[${item.index}].`);
      if ("write" in result) parsed.push({ index: item.index, write: result.write });
      else faults.push({ index: item.index, fault: result.fault });
    }
    const writes = await withSources(projectId, parsed, session, faults, field);
    const errors = faults.toSorted((a, b) => a.index - b.index).map(({ fault }) => fault);
    if (writes.length === 0) throw batchRejected(errors);
    const placed = await withSessions(projectId, writes);
    await recorder.record(projectId, session === undefined ? placed : [session, ...placed]);
    return {
      eventIds: placed.map((write) => write.event_id),
      sessionId: sessionId ?? placed[0]?.session_id,
      errors,
    };
  }

  // An event without a session keeps the one it has, and gets one of its own when it is new.
  async function withSessions(
    projectId: ProjectId,
    writes: readonly EventWrite[],
  ): Promise<EventWrite[]> {
    const homeless = writes.filter((write) => write.session_id === undefined);
    if (homeless.length === 0) return [...writes];
    const ids = homeless.map((write) => write.event_id);
    const known = await listSessionIds(database.sql(), projectId, ids);
    return writes.map((write) => ({
      ...write,
      session_id: write.session_id ?? known.get(write.event_id) ?? defaultSessionId(write.event_id),
    }));
  }

  // In a batch, an event's source is its own, or that of its session (docs/decisions.md, 4).
  async function withSources(
    projectId: ProjectId,
    parsed: readonly { index: number; write: EventWrite }[],
    session: EventWrite | undefined,
    faults: BatchFault[],
    field: string,
  ): Promise<EventWrite[]> {
    const sources = new Map<string, string>();
    for (const { write } of session ? [{ write: session }, ...parsed] : parsed) {
      if (write.event_type === "session" && write.source) sources.set(write.event_id, write.source);
    }
    const wanted = parsed
      .filter(({ write }) => write.source === undefined && write.session_id !== undefined)
      .map(({ write }) => write.session_id ?? "")
      .filter((id) => !sources.has(id));
    if (wanted.length > 0) {
      const stored = await listSessionSources(database.sql(), projectId, [...new Set(wanted)]);
      for (const [id, source] of stored) sources.set(id, source);
    }
    const writes: EventWrite[] = [];
    for (const { index, write } of parsed) {
      const source = write.source ?? sources.get(write.session_id ?? "");
      if (source !== undefined) writes.push({ ...write, source });
      else faults.push({ index, fault: `${field}[${index}].source: is required in a batch` });
    }
    return writes;
  }

  /** Merges an update; one whose event is not there yet waits for it. */
  async function enrich(projectId: ProjectId, eventId: string, input: EventInput): Promise<void> {
    await recorder.enrich(projectId, parseUpdate(eventId, input));
  }

  /** Merges an update into an event. Throws NOT_FOUND when the project has no such event. */
  async function update(projectId: ProjectId, eventId: string, input: EventInput): Promise<void> {
    const isThere = await recorder.update(projectId, parseUpdate(eventId, input));
    if (!isThere) throw new ServiceError("NOT_FOUND", "no such event");
  }

  /** Returns an event. Throws NOT_FOUND when the project has no such event. */
  async function get(projectId: ProjectId, eventId: string): Promise<StoredEvent> {
    const event = await findEvent(database.sql(), projectId, eventId);
    if (event === undefined) throw new ServiceError("NOT_FOUND", "no such event");
    return event;
  }

  /** Deletes an event. Throws NOT_FOUND when there is none, INVALID_ARGUMENT for a session. */
  async function remove(projectId: ProjectId, eventId: string): Promise<void> {
    await database.transaction(async (sql) => {
      const [held] = await lockEvents(sql, projectId, [eventId]);
      if (held === undefined || "pending" in held) {
        throw new ServiceError("NOT_FOUND", "no such event");
      }
      if (held.event.event_type === "session") {
        const message = "event_id: is a session; DELETE /v1/sessions/{session_id} deletes it";
        throw new ServiceError("INVALID_ARGUMENT", message);
      }
      await deleteEvent(sql, projectId, eventId);
      await applyTotals(sql, [{ projectId, before: held.event, after: undefined }]);
    });
  }

  return { create, createBatch, enrich, update, get, delete: remove };
}

// The session that a batch joins, if any, and the write that makes it where properties are given.
function joinedSession(
  items: readonly BatchItem[],
  { isSingleSession = false, sessionProperties, sessionId }: BatchOptions,
): { sessionId: string | undefined; session: EventWrite | undefined } {
  if (!isSingleSession) return { sessionId, session: undefined };
  const first = items.find((item) => "input" in item && item.input.session_id);
  const ownId = first && "input" in first ? first.input.session_id : undefined;
  const session = parseSession(
    { ...sessionProperties, session_id: sessionProperties?.session_id ?? sessionId ?? ownId },
    "session_properties.",
  );
  return { sessionId: session.event_id, session: sessionProperties && session };
}

function parseItem(
  item: BatchItem,
  sessionId: string | undefined,
  path: string,
): { write: EventWrite } | { fault: string } {
  if ("fault" in item) return item;
  try {
    const { input } = item;
    const joined = sessionId === undefined ? input : { ...input, session_id: sessionId };
    return { write: parseEvent(joined, path) };
  } catch (error) {
    if (error instanceof ServiceError) return { fault: error.message };
    throw error;
  }
}

function batchRejected(errors: readonly string[]): ServiceError {
  return new ServiceError("BATCH_REJECTED", "no event of the batch could be stored", {
    details: { event_ids: [], errors, success: false },
  });
}
