// Selection: which of a project's events meet conditions that were written down earlier, perhaps
// before any event had the fields they name. Source: docs/decisions.md, 16, 22, 26.

import { ServiceError } from "../../base/errors.ts";
import type { ProjectId } from "../../base/ids.ts";
import type { Database, Read } from "../../postgres/database.ts";
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

/** Which events are meant: all filters hold, and the start time is within the bounds. */
export type EventSearch = {
  /** Any number. A field that no event has yet is absent; it is no fault. */
  readonly filters: readonly FilterInput[];
  /** Microseconds, included; undefined is no bound. */
  readonly fromUs: number | undefined;
  /** Microseconds, excluded; undefined is no bound. */
  readonly toUs: number | undefined;
};

export type EventPlaces = {
  /** The newest first. May be few or none though there are more: see `next`. */
  readonly places: readonly EventPlace[];
  /** Where the next page begins; undefined at the end. */
  readonly next: EventPlace | undefined;
};

export type SelectedEvents = {
  /** In the order of the ids; events that are gone are left out. */
  readonly events: readonly StoredEvent[];
  /** How many of the ids, from the first, these are all of; at least 1 unless there was no id. */
  readonly read: number;
};

/** Selects events of one cluster. Filters of a form that no filter has throw INVALID_FILTER. */
export type Selection = {
  /** Returns those of the ids whose events meet all filters as they are now, in no order. */
  matching(
    projectId: ProjectId,
    eventIds: readonly string[],
    filters: readonly FilterInput[],
  ): Promise<readonly string[]>;
  /**
   * Returns at most `limit` events after a place, going back in time. Looks at a bounded number of
   * events, so that rare matches cost many short statements and not one that times out.
   */
  page(
    projectId: ProjectId,
    search: EventSearch,
    page: { readonly after: EventPlace | undefined; readonly limit: number },
  ): Promise<EventPlaces>;
  /** Counts all events that meet a search. `signal` cancels the statement. */
  count(projectId: ProjectId, search: EventSearch, signal?: AbortSignal): Promise<number>;
  /**
   * Reads events, as many of the first ids as fit into some megabytes. What a lone huge event takes
   * is its own size.
   */
  read(projectId: ProjectId, eventIds: readonly string[]): Promise<SelectedEvents>;
  /**
   * Returns the position of the first filter that an event does not meet, -1 when it meets all;
   * undefined when there is no such event.
   */
  explain(
    projectId: ProjectId,
    eventId: string,
    filters: readonly FilterInput[],
  ): Promise<number | undefined>;
};

export type SelectionOptions = {
  readonly database: Database;
  readonly fields: Pick<FieldCatalogue, "fieldsOf">;
  /** Events that a page looks at. */
  readonly walkedMax?: number;
};

/** A read is of so many ids at most, and of about so many bytes. */
const readIdsMax = 200;
const readBytesMax = 4_000_000;

/** Recorded fields are remembered so long, of the projects asked for last. */
const fieldsAgeMsMax = 10_000;
const fieldsProjectsMax = 20;

export function createSelection(options: SelectionOptions): Selection {
  const { database, walkedMax = walkedMaxDefault } = options;
  const fieldsOf = rememberFields(options.fields);

  /** Searches look at many events at once, and have the time for it. */
  function readerOf(projectId: ProjectId, signal?: AbortSignal): Read {
    return database.reader({ owner: projectId, kind: "selections", signal });
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

    async count(projectId, search, signal) {
      const query = await parseSearch(projectId, search);
      return store.countEvents(readerOf(projectId, signal), query);
    },

    async read(projectId, eventIds) {
      const ids = eventIds.slice(0, readIdsMax);
      const { rows, parts } = await findRows(createReadContext(database, projectId), {
        ...{ source: rowsOfIds(projectId, ids), rowsMax: ids.length, projections: undefined },
        ...{ bytesMax: readBytesMax, admit: () => undefined },
      });
      const part = await parts.next();
      if (part.done === true) return { events: [], read: ids.length };
      // Every column was selected, so nothing of a stored event is missing.
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
 * Reads a filter as an export does, with the kinds of values that are recorded. Where that makes it
 * a fault, what is recorded is no reason to refuse it: it was written down for events to come.
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

/** The catalogue of a wide project is thousands of rows, and a router asks every few moments. */
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
