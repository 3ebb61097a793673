// Export: the events of a project that match filters and dates, in pages, by cursor, or as one
// stream without a bound. Called by handlers.ts.
// Source: docs/spec.md, POST /events/export; docs/decisions.md, 15 to 17.

import { ServiceError } from "../../base/errors.ts";
import { handOff } from "../../base/hand-off.ts";
import type { ProjectId } from "../../base/ids.ts";
import type { Database, Sql } from "../../postgres/database.ts";
import { type EventFieldName, eventFieldNames, type SelectedEvent } from "../events/event-row.ts";
import type { FieldCatalogue, SchemaField } from "../fields/fields.ts";
import type { Condition } from "./condition.ts";
import { hasOwnIndex } from "./filter-sql.ts";
import { formatCursor, parseCursor } from "./cursor.ts";
import { type FilterInput, needsCatalogue, parseFilters } from "./filter.ts";
import { type Bounds, parseBounds } from "./instant.ts";
import * as store from "./store.ts";

/** Which events a request asks for. */
export type EventSelection = Bounds & {
  readonly filters: readonly FilterInput[];
  /** Experiment run that the events belong to; absent or empty means any. */
  readonly evaluationId?: string | undefined;
  /** Fields to answer besides `event_id`; empty means all. */
  readonly projections: readonly string[];
};

export type PageRequest = EventSelection & {
  readonly limit?: number | undefined;
  readonly page?: number | undefined;
  readonly cursor?: string | undefined;
};

export type Projections = ReadonlySet<EventFieldName> | undefined;

export type ExportPage = {
  readonly events: readonly SelectedEvent[];
  readonly projections: Projections;
  /** Number of events over all pages. */
  readonly total: number;
  /** Undefined on the last page. */
  readonly nextCursor: string | undefined;
};

export type ExportStream = {
  readonly projections: Projections;
  /** Groups of events, newest first, all of one snapshot. */
  readonly groups: AsyncIterable<readonly SelectedEvent[]>;
};

export type Exports = {
  /**
   * Returns a page of at most `limitMax` events. Throws INVALID_FILTER naming the field, and
   * INVALID_ARGUMENT for a limit, page, cursor, date or projection that is no good.
   */
  getPage(
    projectId: ProjectId,
    request: PageRequest,
    options: { readonly limitMax: number; readonly signal?: AbortSignal },
  ): Promise<ExportPage>;
  /** Opens a stream; faults of the request throw before the first group. */
  stream(
    projectId: ProjectId,
    selection: EventSelection,
    signal?: AbortSignal,
  ): Promise<ExportStream>;
  /** Throws INVALID_FILTER, naming the field, where a page of these filters would. */
  checkFilters(projectId: ProjectId, filters: readonly FilterInput[]): Promise<void>;
  /** Returns the field catalogue, by name and event type. */
  getSchema(projectId: ProjectId): Promise<SchemaField[]>;
};

export type ExportsOptions = {
  readonly database: Database;
  readonly fields: FieldCatalogue;
  /** Streams at the same time; each holds a connection. One more answers OVERLOADED. */
  readonly streamsMax?: number;
};

const limitDefault = 1_000;
const streamsMaxDefault = 4;

/** A group of a stream is read at once: these many events, or bytes as the table holds them. */
const groupEventsMax = 500;
const groupBytesMax = 1_000_000;

/** So many matches are sorted faster than found by walking a million events back in time. */
const fewEvents = 5_000;

export function createExports(options: ExportsOptions): Exports {
  const { database, fields, streamsMax = streamsMaxDefault } = options;
  let streams = 0;

  async function toQuery(projectId: ProjectId, selection: EventSelection) {
    const { filters, evaluationId } = selection;
    const recorded = needsCatalogue(filters)
      ? await fields.fieldsOf(projectId)
      : { fields: [], isComplete: true };
    const conditions = parseFilters(filters, recorded);
    if (evaluationId) conditions.push(isOfRun(evaluationId));
    const { fromUs, toUs } = parseBounds(selection);
    return { projectId, conditions, fromUs, toUs };
  }

  return {
    async getPage(projectId, request, { limitMax, signal }) {
      const projections = parseProjections(request.projections);
      const limit = parseCount("limit", request.limit, limitDefault, limitMax);
      const page = parseCount("page", request.page, 1, 2 ** 31 - 1);
      if (request.cursor !== undefined && request.page !== undefined) {
        throw new ServiceError("INVALID_ARGUMENT", "cursor: not together with page");
      }
      const question = questionOf(projectId, request);
      const after =
        request.cursor === undefined ? undefined : parseCursor(request.cursor, question);
      const query = await toQuery(projectId, request);
      // One more row than asked for tells whether there is another page.
      const wanted = { projections, limit: limit + 1, offset: (page - 1) * limit, after };
      const { found, total } = await findPage(database.sql(), query, wanted, signal);
      const events = found.slice(0, limit);
      const last = found.length > limit ? events.at(-1) : undefined;
      const nextCursor = last && formatCursor(positionOf(last), question);
      return { events, projections, total, nextCursor };
    },

    async stream(projectId, selection, signal) {
      const projections = parseProjections(selection.projections);
      const query = await toQuery(projectId, selection);
      const groups = async function* () {
        if (streams >= streamsMax) {
          throw new ServiceError("OVERLOADED", `${streamsMax} exports are running; try again`);
        }
        streams += 1;
        try {
          yield* readGroups(database, query, projections, signal);
        } finally {
          streams -= 1;
        }
      };
      return { projections, groups: groups() };
    },

    async checkFilters(projectId, filters) {
      await toQuery(projectId, { filters, projections: [], fromMs: [], toMs: [] });
    },

    getSchema: (projectId) => fields.schema(projectId),
  };
}

/**
 * Counts first: how many match says how to find the page, and where the newest is. Few matches are
 * found by their own index and sorted; many by walking back in time from the newest.
 */
async function findPage(
  sql: Sql,
  query: store.EventQuery,
  wanted: Omit<store.EventPage, "sortsAll">,
  signal: AbortSignal | undefined,
): Promise<{ found: SelectedEvent[]; total: number }> {
  const { count: total, newestUs } = await store.countEvents(sql, query, signal);
  if (newestUs === null || wanted.offset >= total) return { found: [], total };
  const sortsAll = total <= fewEvents && hasOwnIndex(query.conditions);
  const toUs = newestUs + 1;
  const found = await store.listEvents(sql, { ...query, toUs }, { ...wanted, sortsAll }, signal);
  return { found, total };
}

function readGroups(
  database: Database,
  query: store.EventQuery,
  projections: Projections,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly SelectedEvent[], void, undefined> {
  let hasBegun = false;
  return handOff<readonly SelectedEvent[]>((put) =>
    database.transaction(async (sql) => {
      // A second attempt would send events twice.
      if (hasBegun) throw new Error("the snapshot of a stream was lost");
      await store.openStream(sql, query, signal);
      for (;;) {
        const keys = await store.fetchStreamKeys(sql, signal);
        if (keys.length === 0) return;
        for (const ids of groupKeys(keys)) {
          signal?.throwIfAborted();
          const events = await store.listEventsByIds(sql, query.projectId, ids, projections);
          hasBegun = true;
          await put(events);
        }
      }
    }),
  );
}

function groupKeys(keys: readonly store.StreamKey[]): string[][] {
  const groups: string[][] = [];
  let bytes = 0;
  for (const key of keys) {
    const last = groups.at(-1);
    bytes += key.bytes;
    if (last !== undefined && last.length < groupEventsMax && bytes <= groupBytesMax) {
      last.push(key.eventId);
    } else {
      groups.push([key.eventId]);
      bytes = key.bytes;
    }
  }
  return groups;
}

/** The run of an experiment stands in `metadata.run_id` of its events, recorded or not. */
function isOfRun(runId: string): Condition {
  return {
    target: { kind: "bucket", bucket: "metadata", paths: [["run_id"]] },
    test: { kind: "equals", value: runId },
    negated: false,
  };
}

function parseProjections(names: readonly string[]): Projections {
  if (names.length === 0) return undefined;
  return new Set(
    names.map((name) => {
      const field = eventFieldNames.find((known) => known === name);
      if (field !== undefined) return field;
      throw new ServiceError(
        "INVALID_ARGUMENT",
        `projections: no field ${name}; there are ${eventFieldNames.join(", ")}`,
      );
    }),
  );
}

function parseCount(name: string, value: number | undefined, otherwise: number, max: number) {
  const count = value ?? Math.min(otherwise, max);
  if (Number.isInteger(count) && count >= 1 && count <= max) return count;
  const range = name === "limit" ? `from 1 to ${max}` : "1 or more";
  throw new ServiceError("INVALID_ARGUMENT", `${name}: must be a whole number, ${range}`);
}

/** What a cursor is bound to; the fields to show and the size of the page may change. */
function questionOf(projectId: ProjectId, selection: EventSelection): unknown {
  const filters = selection.filters.map(({ field, operator, value, type }) => [
    field,
    operator,
    value ?? null,
    type ?? null,
  ]);
  return [projectId, filters, selection.fromMs, selection.toMs, selection.evaluationId ?? null];
}

function positionOf(event: SelectedEvent) {
  return { startTimeUs: Math.round(event.start_time * 1000), eventId: event.event_id };
}
