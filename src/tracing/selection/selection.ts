// Selects a project's events by stored conditions, which may be older than any event with the
// fields they name. Source: docs/decisions.md, 16, 22.2, 26.

import { ServiceError } from "../../base/errors.ts";
import type { ProjectId } from "../../base/ids.ts";
import type { Database, Read, ReaderOptions } from "../../postgres/database.ts";
import type { StoredEvent } from "../events/event.ts";
import { createReadContext, findRows } from "../events/sized-read.ts";
import { unescapeText } from "../events/postgres-text.ts";
import { rowsOfIds } from "../events/sized-store.ts";
import type { Condition } from "../export/condition.ts";
import { type FilterInput, needsCatalogue, parseFilters } from "../export/filter.ts";
import { type EventPlace, findPlace, listPlaces, walkedMaxDefault } from "../export/place-store.ts";
import type { FieldCatalogue, ProjectFields } from "../fields/fields.ts";
import * as store from "./store.ts";

export type { EventPlace } from "../export/place-store.ts";

/** A search for events: all filters hold, and the start time is within the bounds. */
export type EventSearch = {
  /** Any number of filters. An unrecorded field counts as absent and is not an error. */
  readonly filters: readonly FilterInput[];
  /** Microseconds, inclusive; undefined for no bound. */
  readonly fromUs: number | undefined;
  /** Microseconds, exclusive; undefined for no bound. */
  readonly toUs: number | undefined;
};

export type EventPlaces = {
  /** Newest first. May be few or empty although more events match: see `next`. */
  readonly places: readonly EventPlace[];
  /** Place where the next page begins; undefined at the end. */
  readonly next: EventPlace | undefined;
};

export type SelectedEvents = {
  /** Events in the order of the ids, without deleted ones. */
  readonly events: readonly StoredEvent[];
  /** Number of leading ids that were read; at least 1 unless there was no id. */
  readonly read: number;
};

/** Selects events of one cluster. Throws INVALID_FILTER for a malformed filter. */
export type Selection = {
  /** Returns the ids whose events currently meet all filters, in no order. */
  matching(
    projectId: ProjectId,
    eventIds: readonly string[],
    filters: readonly FilterInput[],
  ): Promise<readonly string[]>;
  /**
   * Returns at most `limit` events after a place, going back in time. Scans a bounded number of
   * events: rare matches cost many short statements, not one that times out.
   */
  page(
    projectId: ProjectId,
    search: EventSearch,
    page: { readonly after: EventPlace | undefined; readonly limit: number },
  ): Promise<EventPlaces>;
  /** Counts all events that meet a search. `signal` cancels the statement. */
  count(projectId: ProjectId, search: EventSearch, reader?: SearchReader): Promise<number>;
  /**
   * Reads the events of as many leading ids as fit into some megabytes. A single huge event takes
   * its own size.
   */
  read(projectId: ProjectId, eventIds: readonly string[]): Promise<SelectedEvents>;
  /**
   * Returns the index of the first filter that an event fails, -1 if it meets all; undefined if the
   * event does not exist.
   */
  explain(
    projectId: ProjectId,
    eventId: string,
    filters: readonly FilterInput[],
  ): Promise<number | undefined>;
};

/** The call that searches. */
export type SearchReader = Pick<ReaderOptions, "organization" | "signal">;

export type SelectionOptions = {
  readonly database: Database;
  readonly fields: Pick<FieldCatalogue, "fieldsOf">;
  /** Maximum events that a page scans. */
  readonly walkedMax?: number;
};

/** Maximum ids of a read, and its approximate maximum bytes. */
const readIdsMax = 200;
const readBytesMax = 4_000_000;

/** Maximum age of remembered fields, and maximum number of projects, the latest requested ones. */
const fieldsAgeMsMax = 10_000;
const fieldsProjectsMax = 20;

export function createSelection(options: SelectionOptions): Selection {
  const { database, walkedMax = walkedMaxDefault } = options;
  const fieldsOf = rememberFields(options.fields);

  /** Searches scan many events at once, so they have the longer time limit of selections. */
  function readerOf(projectId: ProjectId, { organization, signal }: SearchReader = {}): Read {
    return database.reader({ owner: projectId, organization, kind: "selections", signal });
  }

  async function parse(
    projectId: ProjectId,
    filters: readonly FilterInput[],
  ): Promise<Condition[]> {
    const recorded = needsCatalogue(filters) ? await fieldsOf(projectId) : noFields;
    return filters.map((filter) => parseLeniently(filter, recorded));
  }

  async function parseSearch(projectId: ProjectId, { filters, fromUs, toUs }: EventSearch) {
    return { projectId, conditions: await parse(projectId, filters), fromUs, toUs };
  }

  return {
    async matching(projectId, eventIds, filters) {
      if (eventIds.length === 0) return [];
      const conditions = await parse(projectId, filters);
      return store.listMatching(readerOf(projectId), projectId, eventIds, conditions);
    },

    async page(projectId, search, { after, limit }) {
      const query = await parseSearch(projectId, search);
      const read = readerOf(projectId);
      const end = await findPlace(read, query, { after, walked: walkedMax });
      const places = await listPlaces(read, query, { after, end, limit });
      const next = places.length === limit ? places.at(-1) : end;
      return { places, next };
    },

    async count(projectId, search, reader) {
      const query = await parseSearch(projectId, search);
      return store.countEvents(readerOf(projectId, reader), query);
    },

    async read(projectId, eventIds) {
      const ids = eventIds.slice(0, readIdsMax);
      const { rows, parts } = await findRows(createReadContext(database, projectId), {
        source: rowsOfIds(projectId, ids),
        rowsMax: ids.length,
        projections: undefined,
        bytesMax: readBytesMax,
        admit: () => undefined,
      });
      const part = await parts.next();
      if (part.done === true) return { events: [], read: ids.length };
      // Every column is selected, so the events are complete.
      const events = part.value.events as readonly StoredEvent[];
      const last = part.value.rows.at(-1);
      const next = last && rows[rows.indexOf(last) + 1];
      const read = next ? ids.indexOf(unescapeText(next.event_id)) : ids.length;
      return { events, read };
    },

    async explain(projectId, eventId, filters) {
      const conditions = await parse(projectId, filters);
      const holds = await store.testEvent(readerOf(projectId), projectId, eventId, conditions);
      return holds?.indexOf(false);
    },
  };
}

const noFields: ProjectFields = { fields: [], isComplete: false };

/**
 * Parses a filter like an export, with the recorded kinds of values. If that fails, parses it
 * without them, because a stored filter may refer to future events.
 */
function parseLeniently(filter: FilterInput, recorded: ProjectFields): Condition {
  let condition: Condition | undefined;
  try {
    [condition] = parseFilters([filter], recorded);
  } catch (error) {
    if (!(error instanceof ServiceError) || recorded === noFields) throw error;
    [condition] = parseFilters([filter], noFields);
  }
  if (condition === undefined) throw new Error("one filter in, no condition out");
  return condition;
}

/**
 * Caches the catalogue: in a wide project it has thousands of rows, and a router asks every few
 * moments.
 */
function rememberFields({ fieldsOf }: SelectionOptions["fields"]) {
  const remembered = new Map<ProjectId, { fields: ProjectFields; readAtMs: number }>();
  return async (projectId: ProjectId): Promise<ProjectFields> => {
    const known = remembered.get(projectId);
    if (known && Date.now() - known.readAtMs < fieldsAgeMsMax) return known.fields;
    const readAtMs = Date.now();
    const fields = { ...(await fieldsOf(projectId)), isComplete: false };
    remembered.delete(projectId);
    remembered.set(projectId, { fields, readAtMs });
    for (const oldest of remembered.keys()) {
      if (remembered.size <= fieldsProjectsMax) break;
      remembered.delete(oldest);
    }
    return fields;
  };
}
