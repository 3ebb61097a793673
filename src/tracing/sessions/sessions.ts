// Sessions: start, update, read with totals, list, tree, delete. Called by handlers.ts.
// Source: docs/spec.md, "Logging"; docs/decisions.md, 5, 11, 15, 18 and 19.

import { ServiceError } from "../../base/errors.ts";
import { isRecordId, type ProjectId } from "../../base/ids.ts";
import { treeEventsMax } from "../../base/limits.ts";
import type { Database } from "../../postgres/database.ts";
import type { EventWrite, StoredEvent } from "../events/event.ts";
import {
  type EventInput,
  parseSession,
  parseUpdate,
  type SessionInput,
} from "../events/parse-event.ts";
import type { Recorder } from "../events/record.ts";
import { findEvent } from "../events/store.ts";
import { formatCursor, parseCursor } from "../export/cursor.ts";
import {
  type Columns,
  eventColumns,
  type FilterInput,
  needsCatalogue,
  parseFilters,
} from "../export/filter.ts";
import { type Bounds, parseBounds } from "../export/instant.ts";
import type { FieldCatalogue } from "../fields/fields.ts";
import * as store from "./store.ts";
import { emptyTotals, totalNames, type Totals } from "./totals.ts";
import { toTree } from "./tree.ts";

/** A session event with its totals. */
export type Session = { readonly event: StoredEvent; readonly totals: Totals };

export type ListOptions = Bounds & {
  readonly filters: readonly FilterInput[];
  /** Default 100. */
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
};

export type SessionPage = {
  readonly sessions: readonly Session[];
  readonly nextCursor: string | undefined;
};

export type Sessions = ReturnType<typeof createSessions>;

const listLimitDefault = 100;

const sessionColumns: Columns = {
  ...eventColumns,
  session_name: "text",
  has_feedback: "boolean",
  ...Object.fromEntries(totalNames.map((name) => [name, "number" as const])),
};

/** Returns the sessions service. Every method acts on one project only, the caller's. */
export function createSessions(options: {
  database: Database;
  recorder: Recorder;
  fields: FieldCatalogue;
}) {
  const { database, recorder, fields } = options;

  /** Starts a session, or merges into the one that has its id, and returns it whole. */
  async function start(projectId: ProjectId, input: SessionInput): Promise<Session> {
    const write = parseSession(input, "session.");
    const refused = await recorder.record(projectId, [write]);
    if (refused.size > 0) {
      const message = "session.session_id: is the id of an event that is no session";
      throw new ServiceError("INVALID_ARGUMENT", message);
    }
    return get(projectId, write.event_id);
  }

  /** Merges fields into a session. Throws NOT_FOUND when the project has no such session. */
  async function update(projectId: ProjectId, id: string, input: EventInput): Promise<void> {
    if (!isRecordId(id)) throw notFound();
    const write: EventWrite = parseUpdate(id, input);
    const event = await findEvent(database.sql(), projectId, id);
    if (event?.event_type !== "session") throw notFound();
    if (!(await recorder.update(projectId, write))) throw notFound();
  }

  /** Returns a session with its totals. Throws NOT_FOUND when there is none. */
  async function get(projectId: ProjectId, sessionId: string): Promise<Session> {
    const sql = database.sql();
    const [event, totals] = await Promise.all([
      findEvent(sql, projectId, sessionId),
      store.findTotals(sql, projectId, sessionId),
    ]);
    if (event?.event_type !== "session") throw notFound();
    return withTotals(event, totals ?? {});
  }

  /** Returns a session and its events as a tree without payloads, however many there are. */
  async function skeleton(projectId: ProjectId, sessionId: string) {
    const session = await get(projectId, sessionId);
    const events = await store.listSkeleton(database.sql(), projectId, sessionId);
    return { ...session, children: toTree(sessionId, events) };
  }

  /**
   * Returns a session and its events as a tree with payloads. Throws ANSWER_TOO_LARGE past the
   * limit of events, since a cut tree would look whole.
   */
  async function tree(projectId: ProjectId, sessionId: string) {
    const session = await get(projectId, sessionId);
    if (session.totals.num_events > treeEventsMax) {
      const message =
        `the session has ${session.totals.num_events} events, more than ${treeEventsMax}; ` +
        "use view=skeleton, or POST /v1/events/stream with a session_id filter";
      throw new ServiceError("ANSWER_TOO_LARGE", message);
    }
    // Every column was selected, so nothing of a stored event is missing.
    const events = (await store.listEvents(
      database.sql(),
      projectId,
      sessionId,
    )) as readonly StoredEvent[];
    return { ...session, children: toTree(sessionId, events) };
  }

  /** Lists sessions, newest first. Throws INVALID_FILTER as exports do. */
  async function list(projectId: ProjectId, query: ListOptions): Promise<SessionPage> {
    const { filters, fromMs, toMs, limit = listLimitDefault, cursor } = query;
    const recorded = needsCatalogue(filters)
      ? await fields.fieldsOf(projectId)
      : { fields: [], isComplete: true };
    const conditions = parseFilters(filters, recorded, sessionColumns);
    const question = [projectId, "sessions", conditions, fromMs, toMs];
    const listed = await store.listSessions(database.sql(), projectId, {
      conditions,
      ...parseBounds(query),
      after: cursor === undefined ? undefined : parseCursor(cursor, question),
      // One more than asked for tells whether there is a next page.
      limit: limit + 1,
    });
    const page = listed.slice(0, limit);
    const last = page.at(-1);
    const position = last && {
      startTimeUs: Math.round(last.event.start_time * 1000),
      eventId: last.event.event_id,
    };
    return {
      sessions: page.map(({ event, totals }) => withTotals(event as StoredEvent, totals)),
      nextCursor: position && listed.length > limit ? formatCursor(position, question) : undefined,
    };
  }

  /** Deletes a session with its events. Throws NOT_FOUND when there is none. */
  async function remove(projectId: ProjectId, sessionId: string): Promise<void> {
    await database.transaction(async (sql) => {
      const event = await findEvent(sql, projectId, sessionId);
      if (event?.event_type !== "session") throw notFound();
      await store.deleteSession(sql, projectId, sessionId);
    });
  }

  return { start, update, get, skeleton, tree, list, delete: remove };
}

function withTotals(event: StoredEvent, totals: Partial<store.ListedSession["totals"]>): Session {
  return { event, totals: totals.num_events == null ? emptyTotals : (totals as Totals) };
}

function notFound(): ServiceError {
  return new ServiceError("NOT_FOUND", "no such session");
}
