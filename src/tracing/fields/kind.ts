// Kinds of values that a field of an event holds, as bits that add up over its events.
// Called by the field catalogue and the filter parser. Source: docs/decisions.md, 17.

/** One bit for each kind; a field's `types` is the union of those seen. */
export const kinds = {
  string: 1,
  integer: 2,
  decimal: 4,
  boolean: 8,
  datetime: 16,
  null: 32,
  /** An object or array with nothing in it; a filled one shows as the fields inside. */
  empty: 64,
  /** An object or array with fields inside that are not recorded; they were too many. */
  open: 128,
} as const;

export const numberKinds = kinds.integer | kinds.decimal;

/** Kinds a filter's value can be compared with. */
export const scalarKinds = kinds.string | numberKinds | kinds.boolean | kinds.datetime;

/**
 * Returns the names of the kinds in `types` joined by `|`, or "" when there is none to show. Whole
 * and decimal numbers together are `decimal` (docs/spec.md, "Event record", rules).
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
