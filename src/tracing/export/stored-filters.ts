// Filters that are stored with what they select for: metrics, annotation queues, charts. An event
// field that they name may be recorded later. Source: docs/decisions.md, 16, 22.2.

import { assertText } from "../../base/assert-text.ts";
import { refuse } from "../../base/errors.ts";
import { metricFilterBytesMax } from "../../base/tenant-limits.ts";
import type { ProjectFields } from "../fields/fields.ts";
import { eventColumns, type FilterInput, parseFilters } from "./filter.ts";

/** Fields may be newer than what holds the filters, so every name is accepted as written. */
export const anyFields: ProjectFields = { fields: [], isComplete: false };

/**
 * Returns filters to store, in their complete form. Throws INVALID_FILTER naming the field, and
 * INVALID_ARGUMENT if they are too long or not valid text. `path` names them in errors.
 */
export function parseStoredFilters(
  path: string,
  given: readonly FilterInput[],
): readonly FilterInput[] {
  parseFilters(given, anyFields, { path });
  const filters = given.map((filter, index) => toFilter(filter, `${path}[${index}]`));
  if (Buffer.byteLength(JSON.stringify(filters)) > metricFilterBytesMax) {
    refuse(path, `must be at most ${metricFilterBytesMax} bytes long`);
  }
  return filters;
}

/**
 * Returns equal filters in the same, complete form: the published Python client fails on a list in
 * which any filter lacks its value or its type.
 */
function toFilter(filter: FilterInput, place: string): FilterInput {
  const { field, operator, value = null, type } = filter;
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
