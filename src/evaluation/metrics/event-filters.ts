// Filters of the events that an evaluator runs on, including the older request fields for type and
// name of events. Source: docs/spec.md, POST /events/export; docs/decisions.md, 16 and 22.2.

import { refuse } from "../../base/errors.ts";
import { metricEventNameLengthMax } from "../../base/field-limits.ts";
import { metricFilterBytesMax } from "../../base/tenant-limits.ts";
import { eventColumns, type FilterInput, parseFilters } from "../../tracing/export/filter.ts";
import type { Filters } from "./definition.ts";
import { assertText } from "./fields.ts";

/** Fields of events that older clients name outside the filters. */
export type OlderFilter = "event_type" | "event_name";

const eventTypes: readonly string[] = ["model", "tool", "chain", "session"];

/** Fields may be newer than the evaluator, so every name is accepted as written. */
const anyFields = { fields: [], isComplete: false };

/**
 * Returns evaluable filters. Throws INVALID_FILTER naming the field, and INVALID_ARGUMENT if they
 * are too long or not valid text.
 */
export function parseEventFilters(given: readonly FilterInput[]): Filters {
  parseFilters(given, anyFields);
  const filterArray = given.map(toFilter);
  if (Buffer.byteLength(JSON.stringify(filterArray)) > metricFilterBytesMax) {
    refuse("filters", `must be at most ${metricFilterBytesMax} bytes long`);
  }
  return { filterArray };
}

/**
 * Returns equal filters in the same, complete form: the published Python client fails on a list in
 * which any filter lacks its value or its type.
 */
function toFilter(filter: FilterInput, index: number): FilterInput {
  const { field, operator, value = null, type } = filter;
  const place = `filters.filterArray[${index}]`;
  assertText(`${place}.field`, field, metricFilterBytesMax);
  if (typeof value === "string") assertText(`${place}.value`, value, metricFilterBytesMax);
  if (typeof value === "number" && !Number.isFinite(value)) {
    refuse(`${place}.value`, "must be a finite number");
  }
  const isPresence = operator === "exists" || operator === "not exists";
  return { field, operator, value: isPresence ? null : value, type: type || typeMeant(filter) };
}

/** Returns the type as which a filter without one is evaluated, if its field is unknown. */
function typeMeant({ field, operator, value }: FilterInput): string {
  const held = new Map(Object.entries(eventColumns)).get(field);
  if (held === "time" || operator === "after" || operator === "before") return "datetime";
  if (held === "number" || operator === "greater than" || operator === "less than") return "number";
  const isText = held !== undefined || operator === "contains" || operator === "not contains";
  if (!isText && (typeof value === "number" || typeof value === "boolean")) return typeof value;
  return "string";
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
