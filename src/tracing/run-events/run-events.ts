// Events of experiment runs, with their scores. A run's sessions are those that it lists and those
// with an event whose `metadata.run_id` names it. Source: docs/decisions.md, 39.3.

import { ServiceError } from "../../base/errors.ts";
import type { ProjectId } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import { answerBytesMax } from "../../base/limits.ts";
import { runEventsMax } from "../../base/tenant-limits.ts";
import { createPacer } from "../../base/pacer.ts";
import { runPaced, type Steps } from "../../base/paced.ts";
import type { Database, Sql } from "../../postgres/database.ts";
import { unescapeJson } from "../events/postgres-text.ts";
import { readAnswer } from "../events/answer.ts";
import type { SelectedEvent } from "../events/event-row.ts";
import { rowsOfIds } from "../events/sized-store.ts";
import { createReadContext, type Reading, readWithin } from "../events/sized-read.ts";
import type { FilterInput } from "../export/filter.ts";
import type { Selection } from "../selection/selection.ts";
import * as store from "./store.ts";
import type { CallOutcome, RunSessions, RunUsage } from "./store.ts";

export { retriedBy } from "../export/run-conditions.ts";
export type { CallOutcome, RunSessions, RunUsage };

/** A session of a run, or an event of the run with metrics. */
export type RunEvent = {
  readonly eventId: string;
  readonly sessionId: string;
  readonly eventType: string;
  readonly eventName: string;
  /** Own `metadata.datapoint_id`, else that of the session; null if both name none. */
  readonly datapointId: string | null;
  /** Whether it is a session with an error, so that the application failed on the datapoint. */
  readonly hasFailed: boolean;
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
  /** Returns what the sessions of a run took. */
  usage(projectId: ProjectId, sessions: RunSessions): Promise<RunUsage>;
  /** Returns the sessions of a run that have neither outputs nor an error, in a transaction. */
  openSessionIds(sql: Sql, projectId: ProjectId, sessions: RunSessions): Promise<readonly string[]>;
  /** Returns the runs that events of ids name, with the events. */
  runsOf(
    projectId: ProjectId,
    eventIds: readonly string[],
  ): Promise<readonly { readonly eventId: string; readonly runId: string }[]>;
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
      const parts = await readWithin(context, page.bytesMax, (sql) =>
        store.runEventParts(sql, projectId, sessions, page),
      );
      const count = parts.reduce((sum, part) => sum + part.events, 0);
      if (count > runEventsMax || parts.some((part) => !part.is_sent)) throw tooMany();
      const pacer = createPacer(context.memory.holder);
      const found: OpenEvent[] = [];
      for (const part of parts) {
        addEvents(found, part);
        if (pacer.due()) await pacer.rest();
      }
      await runPaced(addDatapoints(found), pacer);
      if (filters.length === 0) return found;
      const ids = found.map(({ eventId }) => eventId);
      const matching = new Set(await selection.matching(projectId, ids, filters));
      return found.filter(({ eventId }) => matching.has(eventId));
    },

    async *idPages(projectId, sessions) {
      let page: readonly string[] | undefined;
      do {
        const asked = { after: page?.at(-1) ?? "", limit: idsOfPage };
        const find = (sql: Sql) => store.listEventIds(sql, projectId, sessions, asked);
        page = await database.readInTurn(projectId, find);
        if (page.length > 0) yield page;
      } while (page.length === idsOfPage);
    },

    usage(projectId, sessions) {
      const find = (sql: Sql) => store.findUsage(sql, projectId, sessions);
      return database.readInTurn(projectId, find);
    },

    openSessionIds: store.listOpenSessionIds,

    runsOf: (projectId, eventIds) => store.listRunsOfEvents(database.sql(), projectId, eventIds),

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

/** An event that may still get the datapoint of its session. */
type OpenEvent = { -readonly [K in keyof RunEvent]: RunEvent[K] };

function addEvents(found: OpenEvent[], part: store.RunEventPart): void {
  const column = (text: string | null): readonly unknown[] =>
    JSON.parse(unescapeJson(text ?? "[]")) as unknown[];
  const sessionIds = column(part.session_ids) as readonly string[];
  const eventTypes = column(part.event_types) as readonly string[];
  const eventNames = column(part.event_names) as readonly string[];
  const datapointIds = column(part.datapoint_ids) as readonly (string | null)[];
  const failures = column(part.failures) as readonly boolean[];
  const metrics = column(part.metrics) as readonly JsonObject[];
  for (const [at, eventId] of (column(part.event_ids) as readonly string[]).entries()) {
    found.push({
      eventId,
      sessionId: sessionIds[at] ?? "",
      eventType: eventTypes[at] ?? "",
      eventName: eventNames[at] ?? "",
      datapointId: datapointIds[at] ?? null,
      hasFailed: failures[at] ?? false,
      metrics: metrics[at] ?? {},
    });
  }
}

/** Gives each event without a datapoint that of its session, or of another event of its session. */
function* addDatapoints(events: readonly OpenEvent[]): Steps<undefined> {
  const bySession = new Map<string, string>();
  for (const [at, { sessionId, eventId, datapointId }] of events.entries()) {
    if (at % eventsOfStep === 0) yield;
    const isSession = eventId === sessionId;
    if (datapointId === null || (bySession.has(sessionId) && !isSession)) continue;
    bySession.set(sessionId, datapointId);
  }
  for (const [at, event] of events.entries()) {
    if (at % eventsOfStep === 0) yield;
    event.datapointId ??= bySession.get(event.sessionId) ?? null;
  }
}

/** Events between two steps. */
const eventsOfStep = 512;

function tooMany(): ServiceError {
  const message =
    `the run has more than ${runEventsMax} sessions and events with scores, or more than ` +
    `${answerBytesMax} bytes of scores; read its events by ` +
    "POST /v1/events/stream with a filter on metadata.run_id";
  return new ServiceError("ANSWER_TOO_LARGE", message);
}
