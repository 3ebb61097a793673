// Filters of the address as messages for the service's lists and charts.

import { type FilterRow, toMessage } from "../../design/filters.ts";
import { boundsOf, rangeDefault } from "../../design/time-range.ts";
import type { TracesSearch } from "./search.ts";

/** The address with its defaults. */
export type Question = {
  readonly tab: "sessions" | "events";
  /** Filters of the address, search words and kind included. */
  readonly filters: readonly FilterRow[];
  /** Unix milliseconds; `to` is absent in a range up to now. */
  readonly from: number;
  readonly to?: number;
};

/** Returns the question of an address at a time. */
export function toQuestion(search: TracesSearch, nowMs: number): Question {
  const { tab = "sessions", range = rangeDefault, filters = [], q, kind } = search;
  return {
    tab,
    filters: [
      ...filters,
      ...(q === undefined ? [] : [wordsFilter(q)]),
      ...(tab === "events" ? [kindFilter(kind)] : []),
    ],
    ...boundsOf(range, nowMs),
  };
}

const wordsField = "any_text";

/** Returns the filter of the search words. */
export function wordsFilter(words: string): FilterRow {
  return { field: wordsField, operator: "contains", value: words };
}

/** Returns filters as parts of the address of the traces: the search words apart. */
export function fromFilters(filters: readonly FilterRow[]): Pick<TracesSearch, "filters" | "q"> {
  const words = filters.find(({ field }) => field === wordsField);
  const others = filters.filter((filter) => filter !== words);
  return {
    ...(others.length > 0 && { filters: others }),
    ...(words && { q: String(words.value) }),
  };
}

/** Sessions stand in their own list, so the list of events leaves them out. */
function kindFilter(kind: string | undefined): FilterRow {
  return kind === undefined
    ? { field: "event_type", operator: "is not", value: "session" }
    : { field: "event_type", operator: "is", value: kind };
}

/** Returns the fields that list requests share. */
export function toListInput({ filters, from, to }: Question) {
  return {
    filters: filters.map(toMessage),
    dateRange: { gte: from, ...(to !== undefined && { lte: to }) },
  };
}

/** Totals of sessions that filters may name, with their types. */
export const sessionTotals = {
  num_errors: "integer",
  num_events: "integer",
  num_model_events: "integer",
  total_tokens: "integer",
  cost: "decimal",
  has_feedback: "boolean",
} as const;

/**
 * Returns filters of sessions as filters of events: totals are left out, except that sessions with
 * errors have events with one.
 */
export function toEventFilters(filters: readonly FilterRow[]): readonly FilterRow[] {
  const kept = filters.filter(({ field }) => !Object.hasOwn(sessionTotals, field));
  const asksForErrors = filters.some(
    ({ field, operator }) => field === "num_errors" && operator === "greater than",
  );
  return asksForErrors ? [...kept, { field: "error", operator: "exists" }] : kept;
}

/** Returns the filtered totals of a list of sessions: charts count events, which have none. */
export function totalsIn({ tab, filters }: Question): readonly string[] {
  if (tab === "events") return [];
  return filters.map(({ field }) => field).filter((field) => Object.hasOwn(sessionTotals, field));
}

/** Returns the filters of a chart: the same, and what kind of event counts. */
export function toChartFilters({ tab, filters }: Question): readonly FilterRow[] {
  const isOfType = filters.some(({ field }) => field === "event_type");
  if (tab === "events" && isOfType) return filters;
  const operator = tab === "sessions" ? "is" : "is not";
  return [...filters, { field: "event_type", operator, value: "session" }];
}
