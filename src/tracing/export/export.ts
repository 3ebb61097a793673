// Export: the events of a project that match filters and dates, in pages (by number or cursor) or
// as one unbounded stream.
// Source: docs/spec.md, POST /events/export; docs/decisions.md, 15.1, 16, 17.

import { refuse } from "../../base/errors.ts";
import type { ProjectId } from "../../base/ids.ts";
import { eventIdsMax } from "../../base/limits.ts";
import { toPageBy } from "../../base/pages.ts";
import type { Database } from "../../postgres/database.ts";
import { readAnswer } from "../events/answer.ts";
import { eventFieldNames, type Projections, type SelectedEvent } from "../events/event-row.ts";
import { createReadContext, type ReadContext, type Reading } from "../events/sized-read.ts";
import { rowsOfIds } from "../events/sized-store.ts";
import type { FieldCatalogue, SchemaField } from "../fields/fields.ts";
import { hasOwnIndex } from "./filter-sql.ts";
import { formatCursor, parseCursor, positionOf } from "./cursor.ts";
import { type FilterInput, needsCatalogue, parseFilters } from "./filter.ts";
import { type Bounds, parseBounds } from "./instant.ts";
import type { EventQuery } from "./place-store.ts";
import { isOfRun } from "./run-conditions.ts";
import * as store from "./store.ts";
import { createStreams, type Group } from "./streams.ts";

/** Events that a request selects. */
export type EventSelection = Bounds & {
  readonly filters: readonly FilterInput[];
  /** Experiment run that the events belong to; absent or empty means any. */
  readonly evaluationId?: string | undefined;
  /** Fields to return in addition to `event_id`; empty means all. */
  readonly projections: readonly string[];
};

export type PageRequest = EventSelection & {
  readonly limit?: number | undefined;
  readonly page?: number | undefined;
  readonly cursor?: string | undefined;
  /** True to estimate the number of matching events where counting them takes long. */
  readonly estimates?: boolean | undefined;
};

export type ExportPage = {
  readonly events: readonly SelectedEvent[];
  readonly projections: Projections;
  /** Number of matching events on all pages. */
  readonly total: number;
  readonly isEstimate: boolean;
  /** Undefined on the last page. */
  readonly nextCursor: string | undefined;
};

export type IdsRequest = Pick<EventSelection, "projections"> & {
  readonly eventIds: readonly string[];
};

export type EventsOfIds = Pick<ExportPage, "events" | "projections">;

export type ExportStream = {
  readonly projections: Projections;
  /**
   * Groups of events, newest first. An event that is stored before the stream begins and does not
   * change meanwhile comes exactly once.
   */
  readonly groups: AsyncIterable<Group>;
};

export type Exports = {
  /**
   * Returns a page of at most `limitMax` events. Throws INVALID_FILTER naming the field, and
   * INVALID_ARGUMENT for an invalid limit, page, cursor, date or projection.
   */
  getPage(
    projectId: ProjectId,
    request: PageRequest,
    options: Reading & { readonly limitMax: number },
  ): Promise<ExportPage>;
  /**
   * Returns the events of these ids in their order; absent ones are left out. Throws
   * INVALID_ARGUMENT for an invalid projection, and ANSWER_TOO_LARGE.
   */
  getByIds(projectId: ProjectId, request: IdsRequest, reading?: Reading): Promise<EventsOfIds>;
  /**
   * Opens a stream. Throws before the first group if the request is invalid, and OVERLOADED if the
   * maximum number of streams is running.
   */
  stream(projectId: ProjectId, selection: EventSelection, reading?: Reading): Promise<ExportStream>;
  /** Throws INVALID_FILTER, naming the field, if `getPage` would refuse these filters. */
  checkFilters(projectId: ProjectId, filters: readonly FilterInput[]): Promise<void>;
  /** Returns the field catalogue, sorted by name and event type. */
  getSchema(projectId: ProjectId, reading?: Reading): Promise<SchemaField[]>;
};

export type ExportsOptions = {
  readonly database: Database;
  readonly fields: FieldCatalogue;
  /** Maximum concurrent streams of one project and of all projects. */
  readonly streamsOfProjectMax?: number;
  readonly streamsMax?: number;
  /** Maximum events that one statement of a stream scans. */
  readonly walkedMax?: number;
};

const limitDefault = 1_000;

export function createExports(options: ExportsOptions): Exports {
  const { database, fields } = options;
  const streams = createStreams(options);

  async function toQuery(
    projectId: ProjectId,
    selection: EventSelection,
    reading: Reading,
  ): Promise<EventQuery> {
    const { filters, evaluationId } = selection;
    const recorded = needsCatalogue(filters)
      ? await fields.fieldsOf(projectId, reading)
      : { fields: [], isComplete: true };
    const conditions = parseFilters(filters, recorded);
    if (evaluationId) conditions.push(...isOfRun(evaluationId));
    const { fromUs, toUs } = parseBounds(selection);
    return { projectId, conditions, fromUs, toUs };
  }

  return {
    async getPage(projectId, request, { limitMax, ...reading }) {
      const projections = parseProjections(request.projections);
      const limit = parseCount("limit", request.limit, limitDefault, limitMax);
      const page = parseCount("page", request.page, 1, 2 ** 31 - 1);
      if (request.cursor !== undefined && request.page !== undefined) {
        refuse("cursor", "not together with page");
      }
      const question = questionOf(projectId, request);
      const after =
        request.cursor === undefined ? undefined : parseCursor(request.cursor, question);
      const query = await toQuery(projectId, request, reading);
      const context = createReadContext(database, projectId, reading);
      // One extra row tells whether there is another page.
      const wanted = { limit: limit + 1, offset: (page - 1) * limit, after };
      const find = request.estimates === true ? findUncounted : findPage;
      const { found, total, isEstimate } = await find(context, query, projections, wanted);
      const { items: events, nextCursor } = toPageBy(found, limit, (last) =>
        formatCursor(positionOf(last), question),
      );
      return { events, projections, total, isEstimate, nextCursor };
    },

    async getByIds(projectId, { eventIds, projections: names }, reading = {}) {
      if (eventIds.length > eventIdsMax) {
        refuse("event_ids", `at most ${eventIdsMax}`);
      }
      const projections = parseProjections(names);
      const ids = [...new Set(eventIds)];
      const context = createReadContext(database, projectId, reading);
      const request = { source: rowsOfIds(projectId, ids), rowsMax: ids.length, projections };
      const { events } = await readAnswer(context, request);
      return { events, projections };
    },

    async stream(projectId, selection, reading = {}) {
      const projections = parseProjections(selection.projections);
      const query = await toQuery(projectId, selection, reading);
      const context = createReadContext(database, projectId, reading);
      return { projections, groups: streams.open(context, query, projections) };
    },

    async checkFilters(projectId, filters) {
      await toQuery(projectId, { filters, projections: [], fromMs: [], toMs: [] }, {});
    },

    getSchema: (projectId, reading) => fields.schema(projectId, reading),
  };
}

/**
 * Counts first, because the count decides the plan: few matches are found by their own index and
 * sorted, many by walking back in time from the newest match.
 */
async function findPage(
  context: ReadContext,
  query: EventQuery,
  projections: Projections,
  wanted: Omit<store.EventPage, "sortsAll">,
): Promise<FoundPage> {
  const { count: total, newestUs } = await store.countEvents(context.read, query);
  const counted = { total, isEstimate: false };
  if (newestUs === null || wanted.offset >= total) return { found: [], ...counted };
  const sortsAll = total <= store.fewEvents && hasOwnIndex(query.conditions);
  const source = store.pageOf({ ...query, toUs: newestUs + 1 }, { ...wanted, sortsAll });
  const rowsMax = Math.min(wanted.limit, total - wanted.offset);
  const { events } = await readAnswer(context, { source, rowsMax, projections });
  return { found: events, ...counted };
}

type FoundPage = Pick<ExportPage, "total" | "isEstimate"> & {
  readonly found: readonly SelectedEvent[];
};

/**
 * Counts only few matches that an index finds. Of others the number is estimated, unless the page
 * is the last one, which shows it.
 */
async function findUncounted(
  context: ReadContext,
  query: EventQuery,
  projections: Projections,
  wanted: Omit<store.EventPage, "sortsAll">,
): Promise<FoundPage> {
  const { read } = context;
  const few = store.fewEvents + 1;
  const sortsAll = hasOwnIndex(query.conditions) && (await store.countFew(read, query, few)) < few;
  if (sortsAll) return findPage(context, query, projections, wanted);
  const source = store.pageOf(query, { ...wanted, sortsAll });
  const { events } = await readAnswer(context, { source, rowsMax: wanted.limit, projections });
  const { after, offset, limit } = wanted;
  const seen = offset + events.length;
  const isBeyond = events.length === 0 && offset > 0;
  if (after === undefined && !isBeyond && events.length < limit) {
    return { found: events, total: seen, isEstimate: false };
  }
  const estimate = await store.estimateEvents(read, query);
  const total = isBeyond ? Math.min(estimate, offset) : Math.max(estimate, seen);
  return { found: events, total, isEstimate: true };
}

function parseProjections(names: readonly string[]): Projections {
  if (names.length === 0) return undefined;
  return new Set(
    names.map((name) => {
      const field = eventFieldNames.find((known) => known === name);
      if (field !== undefined) return field;
      return refuse("projections", `no field ${name}; there are ${eventFieldNames.join(", ")}`);
    }),
  );
}

function parseCount(name: string, value: number | undefined, otherwise: number, max: number) {
  const count = value ?? Math.min(otherwise, max);
  if (Number.isInteger(count) && count >= 1 && count <= max) return count;
  const range = name === "limit" ? `from 1 to ${max}` : "1 or more";
  return refuse(name, `must be a whole number, ${range}`);
}

/**
 * Returns the parts of a request that a cursor is bound to. Projections and page size may change
 * between pages.
 */
function questionOf(projectId: ProjectId, selection: EventSelection): unknown {
  const filters = selection.filters.map(({ field, operator, value, type }) => [
    field,
    operator,
    value ?? null,
    type ?? null,
  ]);
  return [projectId, filters, selection.fromMs, selection.toMs, selection.evaluationId ?? null];
}
