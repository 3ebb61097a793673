// Filters of the events that an evaluator runs on, including the older request fields for type and
// name of events. Source: docs/spec.md, POST /events/export; docs/decisions.md, 16 and 22.2.

import { refuse } from "../../base/errors.ts";
import { metricEventNameLengthMax } from "../../base/field-limits.ts";
import { assertText } from "../../base/assert-text.ts";
import type { FilterInput } from "../../tracing/export/filter.ts";
import { parseStoredFilters } from "../../tracing/export/stored-filters.ts";
import type { Filters } from "./definition.ts";

/** Fields of events that older clients name outside the filters. */
export type OlderFilter = "event_type" | "event_name";

const eventTypes: readonly string[] = ["model", "tool", "chain", "session"];

/**
 * Returns evaluable filters. Throws INVALID_FILTER naming the field, and INVALID_ARGUMENT if they
 * are too long or not valid text.
 */
export function parseEventFilters(given: readonly FilterInput[]): Filters {
  return { filterArray: parseStoredFilters("filters.filterArray", given) };
}

/** Returns filters with an older field added; `all` removes its filter. */
export function withOlderFilter(
  filters: readonly FilterInput[],
  field: OlderFilter,
  value: string | undefined,
): readonly FilterInput[] {
  if (value === undefined) return filters;
  if (value === "" || value === "all") return filters.filter((one) => !isOlder(one, field));
  if (field === "event_type" && !eventTypes.includes(value)) {
    refuse(field, `must be ${eventTypes.join(", ")} or all`);
  }
  assertText(field, value, metricEventNameLengthMax);
  const filter = { field, operator: "is", value, type: "string" };
  const index = filters.findIndex((one) => isOlder(one, field));
  if (index === -1) return [...filters, filter];
  return filters[index]?.value === value ? filters : filters.with(index, filter);
}

/** Returns the value of a filter on a field for older clients; undefined if there is none. */
export function olderFilterOf({ filterArray }: Filters, field: OlderFilter): string | undefined {
  const value = filterArray.find((one) => isOlder(one, field))?.value;
  return typeof value === "string" ? value : undefined;
}

function isOlder({ field: own, operator, value }: FilterInput, field: OlderFilter): boolean {
  return own === field && operator === "is" && typeof value === "string";
}
