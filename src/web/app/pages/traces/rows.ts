// Rows of both lists, and how a page of them is read. Payloads become a line each at once and are
// let go, so that a list holds no megabytes.

import type { Event } from "../../../../../gen/waggle/v1/event_pb.js";
import { ExportService } from "../../../../../gen/waggle/v1/export_pb.js";
import { type Session, SessionService } from "../../../../../gen/waggle/v1/session_pb.js";
import { ApiError } from "../../api/errors.ts";
import { callRpc } from "../../api/transport.ts";
import { type EventSummary, summarizeEvent } from "./event-summary.ts";
import type { toListInput } from "./question.ts";

export type SessionRow = {
  readonly session: Session;
  readonly summary: EventSummary;
};

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
  ...["session_id", "parent_id", "event_type", "event_name", "source", "error"],
  ...["start_time", "end_time", "duration", "config", "metadata", "cost_estimate"],
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
  const answer = await searchEvents(request, lightFields);
  const rows = answer.events.map((event) => ({ event, summary: undefined }));
  return { rows, nextCursor: answer.nextCursor, total: answer.count };
}

type SummariesRequest = {
  readonly projectId: string;
  readonly eventIds: readonly string[];
  readonly signal: AbortSignal;
};

/**
 * Reads the questions and answers of at most 100 events, by id. Events that are larger together
 * than the service answers are read in halves; one that is too large alone is null.
 */
export async function readSummaries(
  request: SummariesRequest,
): Promise<ReadonlyMap<string, EventSummary | null>> {
  const { projectId, eventIds, signal } = request;
  try {
    const { events } = await callRpc(
      ExportService.method.getEvents,
      { eventIds: [...eventIds], projections: ["inputs", "outputs"] },
      { projectId, signal },
    );
    return new Map(events.map((event) => [event.eventId ?? "", summarizeEvent(event)]));
  } catch (error) {
    if (!(error instanceof ApiError) || error.errorCode !== "ANSWER_TOO_LARGE") throw error;
    if (eventIds.length === 1) return new Map(eventIds.map((id) => [id, null]));
    const middle = Math.ceil(eventIds.length / 2);
    const first = await readSummaries({ ...request, eventIds: eventIds.slice(0, middle) });
    const rest = await readSummaries({ ...request, eventIds: eventIds.slice(middle) });
    return new Map([...first, ...rest]);
  }
}

function searchEvents(
  { projectId, input, cursor, limit, signal }: PageRequest,
  projections: readonly string[],
) {
  return callRpc(
    ExportService.method.searchEvents,
    {
      ...input,
      projections: [...projections],
      limit,
      ...(cursor !== undefined && { cursor }),
    },
    { projectId, signal },
  );
}
