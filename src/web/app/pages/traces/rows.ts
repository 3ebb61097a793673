// Rows of both lists, and how a page of them is read. Payloads become a line each at once and are
// let go, so that a list holds no megabytes.

import type { Event } from "../../../../../gen/waggle/v1/event_pb.js";
import { ExportService } from "../../../../../gen/waggle/v1/export_pb.js";
import { type Session, SessionService } from "../../../../../gen/waggle/v1/session_pb.js";
import { ApiError } from "../../api/errors.ts";
import { callRpc } from "../../api/transport.ts";
import { type EventSummary, summarizeEvent } from "./event-summary.ts";
import type { toListInput } from "./question.ts";
import { type FilterRow, toMessage } from "../../design/filters.ts";
import { unnamed } from "../session/session-tree.ts";

export type SessionRow = {
  readonly session: Session;
  /** Undefined while it is read from the session's newest call of a model. */
  readonly summary: SessionSummary | undefined;
};

export type SessionSummary = EventSummary & {
  /** Name of the call that the summary is from; absent if it is from the session itself. */
  readonly callName?: string;
};

/** Returns the name of a session, or of its newest call if it was made for its events. */
export function nameOf({ session, summary }: SessionRow): string {
  return session.eventName === unnamed ? (summary?.callName ?? unnamed) : session.eventName;
}

/**
 * Summary of an event; undefined while its payload is on its way, null if it is too large or could
 * not be read.
 */
export type EventRow = {
  readonly event: Event;
  readonly summary: EventSummary | null | undefined;
};

export type ListPage<Row> = {
  readonly rows: readonly Row[];
  readonly nextCursor: string | undefined;
  /** Number of all rows that match, where the service counts them. */
  readonly total?: number;
};

export type PageRequest = {
  readonly projectId: string;
  readonly input: ReturnType<typeof toListInput>;
  readonly cursor: string | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
};

const lightFields = [
  "session_id",
  "parent_id",
  "event_type",
  "event_name",
  "source",
  "error",
  "start_time",
  "end_time",
  "duration",
  "config",
  "metadata",
  "cost_estimate",
];

/** Reads a page of sessions. */
export async function readSessions(request: PageRequest): Promise<ListPage<SessionRow>> {
  const { projectId, input, cursor, limit, signal } = request;
  const answer = await callRpc(
    SessionService.method.listSessions,
    { ...input, limit, ...(cursor !== undefined && { cursor }) },
    { projectId, signal },
  );
  const rows = answer.sessions.map((session) => {
    const summary = summarizeEvent(session);
    delete session.inputs;
    delete session.outputs;
    delete session.config;
    return { session, summary };
  });
  return { rows, nextCursor: answer.nextCursor };
}

/** Reads a page of events without their payloads. */
export async function readEvents(request: PageRequest): Promise<ListPage<EventRow>> {
  const { projectId, input, cursor, limit, signal } = request;
  const answer = await callRpc(
    ExportService.method.searchEvents,
    { ...input, projections: lightFields, limit, ...(cursor !== undefined && { cursor }) },
    { projectId, signal },
  );
  const rows = answer.events.map((event) => ({ event, summary: undefined }));
  return { rows, nextCursor: answer.nextCursor, total: answer.count };
}

export type SummariesRequest = {
  readonly projectId: string;
  /** Ids of events or sessions. */
  readonly ids: readonly string[];
  readonly signal: AbortSignal;
};

/**
 * Reads the questions and answers of at most 100 events, by id. Events that are larger together
 * than the service answers are read in halves; one that is too large alone is null.
 */
export async function readSummaries(
  request: SummariesRequest,
): Promise<ReadonlyMap<string, EventSummary | null>> {
  const { projectId, ids, signal } = request;
  try {
    const { events } = await callRpc(
      ExportService.method.getEvents,
      { eventIds: [...ids], projections: ["inputs", "outputs"] },
      { projectId, signal },
    );
    return new Map(events.map((event) => [event.eventId ?? "", summarizeEvent(event)]));
  } catch (error) {
    if (!(error instanceof ApiError) || error.errorCode !== "ANSWER_TOO_LARGE") throw error;
    if (ids.length === 1) return new Map(ids.map((id) => [id, null]));
    const middle = Math.ceil(ids.length / 2);
    const first = await readSummaries({ ...request, ids: ids.slice(0, middle) });
    const rest = await readSummaries({ ...request, ids: ids.slice(middle) });
    return new Map([...first, ...rest]);
  }
}

/**
 * Reads the questions and answers of the newest calls of models in sessions, by session id; of a
 * session without such a call those of its newest event. Null where there is none, or where the
 * payload is too large to be answered.
 */
export async function readNewestCalls({
  projectId,
  ids,
  signal,
}: SummariesRequest): Promise<ReadonlyMap<string, SessionSummary | null>> {
  const found = await Promise.all(
    ids.map(async (sessionId) => {
      try {
        const asked = { projectId, sessionId, signal };
        const call = (await readNewest(asked, ofModels)) ?? (await readNewest(asked, ofAll));
        return [sessionId, call ? summarizeCall(call) : null] as const;
      } catch (error) {
        if (!(error instanceof ApiError) || error.errorCode !== "ANSWER_TOO_LARGE") throw error;
        return [sessionId, null] as const;
      }
    }),
  );
  return new Map(found);
}

const ofModels: FilterRow = { field: "event_type", operator: "is", value: "model" };
const ofAll: FilterRow = { field: "event_type", operator: "is not", value: "session" };

type NewestRequest = {
  readonly projectId: string;
  readonly sessionId: string;
  readonly signal: AbortSignal;
};

async function readNewest(
  { projectId, sessionId, signal }: NewestRequest,
  ofType: FilterRow,
): Promise<Event | undefined> {
  const ofSession: FilterRow = { field: "session_id", operator: "is", value: sessionId };
  const filters = [ofSession, ofType].map(toMessage);
  const projections = ["event_name", "inputs", "outputs"];
  const input = { filters, projections, limit: 1, total: "estimate" };
  const options = { projectId, signal };
  const { events } = await callRpc(ExportService.method.searchEvents, input, options);
  return events[0];
}

function summarizeCall(call: Event): SessionSummary {
  return { ...summarizeEvent(call), callName: call.eventName };
}
