// Sessions: start, update, read with totals, list, tree, delete.
// Source: docs/spec.md, "Logging"; docs/decisions.md, 5, 11, 15.1, 18.1 and 19.

import { refuse, ServiceError } from "../../base/errors.ts";
import { isRecordId, type ProjectId } from "../../base/ids.ts";
import { answerBytesMax, eventOverheadBytes, treeEventsMax } from "../../base/limits.ts";
import { toPageBy } from "../../base/pages.ts";
import type { Database, Read, Sql } from "../../postgres/database.ts";
import { answerTooLarge, readAnswer } from "../events/answer.ts";
import { type EventWrite, isSession, type StoredEvent } from "../events/event.ts";
import {
  type EventInput,
  parseSession,
  parseUpdate,
  type SessionInput,
} from "../events/parse-event.ts";
import type { Origin, Recorder } from "../events/record.ts";
import {
  createReadContext,
  type ReadContext,
  readEvent,
  type Reading,
} from "../events/sized-read.ts";
import { toStoredEvent } from "../events/stored-event.ts";
import { formatCursor, parseCursor, positionOf } from "../export/cursor.ts";
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
import {
  emptyTotals,
  shownTotalNames,
  totalNames,
  type Totals,
  totalsOf as totalsOfEvent,
} from "./totals.ts";
import { toTree } from "./tree.ts";

/** A session event with its totals. */
export type Session = { readonly event: StoredEvent; readonly totals: Totals };

export type ListOptions = Bounds & {
  readonly filters: readonly FilterInput[];
  /** Maximum sessions on the page; default 100. */
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
};

type StartOptions = Reading & { readonly origin?: Origin; readonly isReader?: boolean };

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
  // Answers show these in the metadata too.
  "metadata.has_feedback": "boolean",
  ...Object.fromEntries(shownTotalNames.map((name) => [`metadata.${name}`, "number" as const])),
};

/** Returns the sessions service. Every method acts on the caller's project only. */
export function createSessions(options: {
  database: Database;
  recorder: Recorder;
  fields: FieldCatalogue;
}) {
  const { database, recorder, fields } = options;

  /**
   * Starts a session, or merges into an existing one of the same id, and returns all of it; to a
   * caller who is no reader, only what the caller gave.
   */
  async function start(
    projectId: ProjectId,
    input: SessionInput,
    { origin, isReader = true, ...reading }: StartOptions = {},
  ): Promise<Session> {
    const write = parseSession(input, "session.");
    let created: StoredEvent | undefined;
    const onCreated = (event: StoredEvent): void => void (created = event);
    const refused = await recorder.record(projectId, [write], { ...origin, onCreated });
    if (refused.size > 0) {
      refuse("session.session_id", "is the id of an event that is no session");
    }
    if (!isReader) {
      // `created` may also hold updates that came before it.
      const receivedAtMs = created?.start_time ?? Date.now();
      const given = toStoredEvent(write.event_id, write, receivedAtMs, () => null);
      return withTotals(given, totalsOfEvent(given));
    }
    if (created !== undefined) return withTotals(created, totalsOfEvent(created));
    // Reads on the connections of commits, so that slow reads of the project do not delay its
    // writes.
    const { memory } = createReadContext(database, projectId, reading);
    const read: Read = (statement) => database.inTurn(statement, { owner: projectId });
    return getWith({ projectId, read, memory }, write.event_id);
  }

  /** Merges fields into a session. Throws NOT_FOUND if the project has no such session. */
  async function update(
    projectId: ProjectId,
    id: string,
    input: EventInput,
    origin?: Origin,
  ): Promise<void> {
    if (!isRecordId(id)) throw notFound();
    // UpdateSession has the field `output`.
    const write: EventWrite = parseUpdate(id, input, { outputs: "output" });
    const isThere = (sql: Sql) => store.isSession(sql, projectId, id);
    if (!(await database.inTurn(isThere, { owner: projectId }))) throw notFound();
    if (!(await recorder.update(projectId, write, origin))) throw notFound();
  }

  /** Returns a session with its totals. Throws NOT_FOUND if it does not exist. */
  async function get(projectId: ProjectId, sessionId: string, reading?: Reading): Promise<Session> {
    return getWith(createReadContext(database, projectId, reading), sessionId);
  }

  /**
   * Returns a session and its events as a tree without payloads. Throws ANSWER_TOO_LARGE past the
   * bounds of an answer.
   */
  async function skeleton(projectId: ProjectId, sessionId: string, reading?: Reading) {
    const context = createReadContext(database, projectId, reading);
    const session = await getWith(context, sessionId);
    if (session.totals.num_events > skeletonEventsMax) throw answerTooLarge(skeletonLimit);
    const { events } = await readAnswer(context, {
      source: store.eventsOf(projectId, sessionId, skeletonEventsMax + 1),
      rowsMax: rowsMaxOf(session),
      projections: store.skeletonFields,
    });
    // All these fields are selected.
    const rows = events as readonly store.SkeletonRow[];
    return { ...session, children: toTree(sessionId, rows) };
  }

  /**
   * Returns a session and its events as a tree with payloads. Throws ANSWER_TOO_LARGE past the
   * limit of events and the bounds of an answer, because a truncated tree would look complete.
   */
  async function tree(projectId: ProjectId, sessionId: string, reading?: Reading) {
    const context = createReadContext(database, projectId, reading);
    const session = await getWith(context, sessionId);
    if (session.totals.num_events > treeEventsMax) {
      const message =
        `the session has ${session.totals.num_events} events, more than ${treeEventsMax}; ` +
        "use view=skeleton, or POST /v1/events/stream with a session_id filter";
      throw new ServiceError("ANSWER_TOO_LARGE", message);
    }
    const { events } = await readAnswer(context, {
      source: store.eventsOf(projectId, sessionId, treeEventsMax),
      rowsMax: rowsMaxOf(session),
      projections: undefined,
    });
    // Every column is selected, so the events are complete.
    return { ...session, children: toTree(sessionId, events as readonly StoredEvent[]) };
  }

  /** Lists sessions, newest first. Throws INVALID_FILTER like exports. */
  async function list(
    projectId: ProjectId,
    query: ListOptions,
    reading: Reading = {},
  ): Promise<SessionPage> {
    const { filters, fromMs, toMs, limit = listLimitDefault, cursor } = query;
    const recorded = needsCatalogue(filters)
      ? await fields.fieldsOf(projectId, reading)
      : { fields: [], isComplete: true };
    const conditions = parseFilters(filters, recorded, { columns: sessionColumns });
    const question = [projectId, "sessions", conditions, fromMs, toMs];
    const source = store.sessionsOf(projectId, {
      conditions,
      ...parseBounds(query),
      after: cursor === undefined ? undefined : parseCursor(cursor, question),
      // One extra row tells whether there is a next page.
      limit: limit + 1,
    });
    const { events, rows } = await readAnswer(createReadContext(database, projectId, reading), {
      source,
      rowsMax: limit + 1,
      projections: undefined,
      extras: totalNames,
    });
    const { items, nextCursor } = toPageBy(events, limit, (last) =>
      formatCursor(positionOf(last), question),
    );
    const sessions = items.map((event, index) =>
      withTotals(event as StoredEvent, totalsOf(rows[index])),
    );
    return { sessions, nextCursor };
  }

  /** Deletes a session with its events. Throws NOT_FOUND if it does not exist. */
  async function remove(projectId: ProjectId, sessionId: string): Promise<void> {
    const deleteFound = async (sql: Sql): Promise<void> => {
      if (!(await store.isSession(sql, projectId, sessionId))) throw notFound();
      await store.deleteSession(sql, projectId, sessionId);
    };
    await database.transaction(deleteFound, { owner: projectId });
  }

  return { start, update, get, skeleton, tree, list, delete: remove };
}

async function getWith(context: ReadContext, sessionId: string): Promise<Session> {
  const [event, totals] = await Promise.all([
    readEvent(context, sessionId),
    store.findTotals(context.read, context.projectId, sessionId),
  ]);
  if (event === undefined || !isSession(event)) throw notFound();
  // Every column is selected, so the event is complete.
  return withTotals(event as StoredEvent, totals);
}

function withTotals(event: StoredEvent, totals: Totals = emptyTotals): Session {
  return { event, totals };
}

/** Returns the totals of a listed session; its columns are null if nothing is counted yet. */
function totalsOf(row: Readonly<Record<string, unknown>> | undefined): Totals | undefined {
  if (row?.["num_events"] == null) return undefined;
  return Object.fromEntries(totalNames.map((name) => [name, row[name]])) as Totals;
}

/** Returns the expected rows of a tree: the counted events, at least `rowsOfTreeMin`. */
function rowsMaxOf({ totals }: Session): number {
  return Math.max(rowsOfTreeMin, totals.num_events);
}

const rowsOfTreeMin = 1_000;

/** Maximum events of a skeleton: more exceed the bytes of an answer with any content. */
const skeletonEventsMax = Math.floor(answerBytesMax / eventOverheadBytes);
const skeletonLimit = `${answerBytesMax} bytes (${skeletonEventsMax} events)`;

function notFound(): ServiceError {
  return new ServiceError("NOT_FOUND", "no such session");
}
