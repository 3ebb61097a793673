// Kinds of values of an event field, as bits that accumulate over the events.
// Source: docs/decisions.md, 17.

/** One bit per kind; a field's `types` is the union of the kinds seen. */
export const kinds = {
  string: 1,
  integer: 2,
  decimal: 4,
  boolean: 8,
  datetime: 16,
  null: 32,
  /** An empty object or array; a filled one appears as its inner fields. */
  empty: 64,
  /** An object or array with inner fields that are not recorded because they are too many. */
  open: 128,
} as const;

export const numberKinds = kinds.integer | kinds.decimal;

/** Kinds that a filter's value can be compared with. */
export const scalarKinds = kinds.string | numberKinds | kinds.boolean | kinds.datetime;

/**
 * Returns the names of the kinds in `types` joined by `|`, or "" if none is shown. Whole and
 * decimal numbers together are `decimal` (docs/spec.md, "Event record", rules).
 */
export function formatKinds(types: number): string {
  const names: string[] = [];
  if (types & kinds.string) names.push("string");
  if (types & kinds.decimal) names.push("decimal");
  else if (types & kinds.integer) names.push("integer");
  if (types & kinds.boolean) names.push("boolean");
  if (types & kinds.datetime) names.push("datetime");
  if (types & kinds.null) names.push("null");
  return names.join("|");
}
