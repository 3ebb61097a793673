// Events of experiment runs, with their scores. A run's sessions are those that it lists and those
// with an event whose `metadata.run_id` names it. Source: docs/decisions.md, 39.3.

import { ServiceError } from "../../base/errors.ts";
import type { ProjectId } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import { answerBytesMax } from "../../base/limits.ts";
import { runEventsMax } from "../../base/tenant-limits.ts";
import { createPacer } from "../../base/pacer.ts";
import type { Database, Sql } from "../../postgres/database.ts";
import { unescapeJson, unescapeText } from "../events/postgres-text.ts";
import { readAnswer } from "../events/answer.ts";
import type { SelectedEvent } from "../events/event-row.ts";
import { rowsOfIds } from "../events/sized-store.ts";
import { createReadContext, type Reading, readWithin } from "../events/sized-read.ts";
import type { FilterInput } from "../export/filter.ts";
import type { Selection } from "../selection/selection.ts";
import * as store from "./store.ts";
import type { CallOutcome, RunSessions } from "./store.ts";

export type { CallOutcome, RunSessions };

/** A session of a run, or an event of the run with metrics. */
export type RunEvent = {
  readonly eventId: string;
  readonly sessionId: string;
  readonly eventType: string;
  readonly eventName: string;
  /** Own `metadata.datapoint_id`, else that of the session; null if both name none. */
  readonly datapointId: string | null;
  readonly metrics: JsonObject;
};

export type RunEvents = {
  /**
   * Returns the events of a run that meet all filters, in the order of their start. Throws
   * ANSWER_TOO_LARGE if they are too many or too large to be computed with at once.
   */
  list(
    projectId: ProjectId,
    sessions: RunSessions,
    filters: readonly FilterInput[],
    reading?: Reading,
  ): Promise<readonly RunEvent[]>;
  /** Returns pages of the ids of all events in the sessions of a run. */
  idPages(projectId: ProjectId, sessions: RunSessions): AsyncGenerator<readonly string[], void>;
  /** Returns how the model calls of ids ended, without absent ones. */
  outcomes(projectId: ProjectId, eventIds: readonly string[]): Promise<readonly CallOutcome[]>;
  /**
   * Returns whole events of ids, in the order of the ids and without absent ones. Throws
   * ANSWER_TOO_LARGE if they do not fit in an answer.
   */
  read(
    projectId: ProjectId,
    eventIds: readonly string[],
    reading?: Reading,
  ): Promise<readonly SelectedEvent[]>;
};

/** Ids of a page. */
const idsOfPage = 10_000;

export function createRunEvents(
  database: Database,
  selection: Pick<Selection, "matching">,
): RunEvents {
  return {
    async list(projectId, sessions, filters, reading) {
      const context = createReadContext(database, projectId, reading);
      const page = { limit: runEventsMax + 1, bytesMax: answerBytesMax };
      const rows = await readWithin(context, page.bytesMax, (sql) =>
        store.runEventRows(sql, projectId, sessions, page),
      );
      if (rows.length > runEventsMax || rows.some((row) => !row.is_sent)) throw tooMany();
      const pacer = createPacer(context.memory.holder);
      const found: RunEvent[] = [];
      for (const row of rows) {
        found.push(toRunEvent(row));
        if (pacer.due()) await pacer.rest();
      }
      const events = withDatapoints(found);
      if (filters.length === 0) return events;
      const ids = events.map(({ eventId }) => eventId);
      const matching = new Set(await selection.matching(projectId, ids, filters));
      return events.filter(({ eventId }) => matching.has(eventId));
    },

    async *idPages(projectId, sessions) {
      let page: readonly string[] | undefined;
      do {
        const asked = { after: page?.at(-1) ?? "", limit: idsOfPage };
        const find = (sql: Sql) => store.listEventIds(sql, projectId, sessions, asked);
        page = await database.on("reads").inTurn(find, { owner: projectId });
        if (page.length > 0) yield page;
      } while (page.length === idsOfPage);
    },

    outcomes: (projectId, eventIds) => store.listOutcomes(database.sql(), projectId, eventIds),

    async read(projectId, eventIds, reading) {
      if (eventIds.length === 0) return [];
      const context = createReadContext(database, projectId, reading);
      const source = rowsOfIds(projectId, eventIds);
      const request = { source, rowsMax: eventIds.length, projections: undefined };
      return (await readAnswer(context, request)).events;
    },
  };
}

function toRunEvent(row: store.RunEventRow): RunEvent {
  const { datapoint_id: datapointId } = row;
  return {
    eventId: unescapeText(row.event_id),
    sessionId: unescapeText(row.session_id),
    eventType: row.event_type,
    eventName: unescapeText(row.event_name),
    datapointId: datapointId === null ? null : unescapeText(datapointId),
    metrics: JSON.parse(unescapeJson(row.metrics ?? "{}")) as JsonObject,
  };
}

/** Gives each event without a datapoint that of its session, or of another event of its session. */
function withDatapoints(events: readonly RunEvent[]): readonly RunEvent[] {
  const bySession = new Map<string, string>();
  for (const { sessionId, eventId, datapointId } of events) {
    const isSession = eventId === sessionId;
    if (datapointId === null || (bySession.has(sessionId) && !isSession)) continue;
    bySession.set(sessionId, datapointId);
  }
  return events.map((event) =>
    event.datapointId === null
      ? { ...event, datapointId: bySession.get(event.sessionId) ?? null }
      : event,
  );
}

function tooMany(): ServiceError {
  const message =
    `the run has more than ${runEventsMax} sessions and events with scores, or more than ` +
    `${answerBytesMax} bytes of scores; narrow it by filters, or read its events by ` +
    "POST /v1/events/stream with a filter on metadata.run_id";
  return new ServiceError("ANSWER_TOO_LARGE", message);
}
