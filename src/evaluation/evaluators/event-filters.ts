// Which events an evaluator runs on: filters as requests say them, with the older fields for the
// type and the name of events among them. Called by to-definition.ts; read back for older clients.
// Source: docs/spec.md, POST /events/export; docs/decisions.md, 16 and 22.

import { metricEventNameLengthMax } from "../../base/field-limits.ts";
import { metricFilterBytesMax } from "../../base/tenant-limits.ts";
import { eventColumns, type FilterInput, parseFilters } from "../../tracing/export/filter.ts";
import type { Filters } from "./definition.ts";
import { assertText, refuse } from "./fields.ts";

/** The fields of events that older clients name beside the filters. */
export type OlderFilter = "event_type" | "event_name";

const eventTypes: readonly string[] = ["model", "tool", "chain", "session"];

/** Fields may come later than the evaluator: each name stands for itself. */
const anyFields = { fields: [], isComplete: false };

/**
 * Returns filters that could be evaluated. Fails with INVALID_FILTER naming the field, and with
 * INVALID_ARGUMENT where they are too long or no text.
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
 * Writes equal filters alike, and whole: the published Python client fails on a list in which any
 * filter lacks its value or its type.
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

/** Returns the type that a filter without one is evaluated as, where its field is not known. */
function typeMeant({ field, operator, value }: FilterInput): string {
  const held = new Map(Object.entries(eventColumns)).get(field);
  if (held === "time" || operator === "after" || operator === "before") return "datetime";
  if (held === "number" || operator === "greater than" || operator === "less than") return "number";
  const isText = held !== undefined || operator === "contains" || operator === "not contains";
  if (!isText && (typeof value === "number" || typeof value === "boolean")) return typeof value;
  return "string";
}

/** Returns filters with an older field among them: `all` takes its filter away. */
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

/** Returns what an older client reads of a filter on a field; undefined where there is none. */
export function olderFilterOf({ filterArray }: Filters, field: OlderFilter): string | undefined {
  const value = filterArray.find((one) => isOlder(one, field))?.value;
  return typeof value === "string" ? value : undefined;
}

function isOlder({ field: own, operator, value }: FilterInput, field: OlderFilter): boolean {
  return own === field && operator === "is" && typeof value === "string";
}
