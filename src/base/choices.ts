// Values of closed sets in requests, and the error for a value outside of one.

import { refuse } from "./errors.ts";
import { quoteText } from "./quote-text.ts";

/**
 * Returns the member of a closed set that a request gives. Fails with INVALID_ARGUMENT naming the
 * field, the members and the value.
 */
export function parseChoice<T extends string>(
  field: string,
  members: readonly T[],
  given: unknown,
): T {
  return members.find((member) => member === given) ?? refuseChoice(field, members, given);
}

/** Refuses a value outside of a closed set; `more` names what else is allowed, such as a path. */
export function refuseChoice(
  field: string,
  members: readonly string[],
  given: unknown,
  more?: string,
): never {
  return refuse(field, faultOfChoice(members, given, more));
}

/** Returns the fault of a value outside of a closed set: the members, and the value if given. */
export function faultOfChoice(members: readonly string[], given: unknown, more?: string): string {
  const allowed = [members.join(", "), ...(more === undefined ? [] : [`or ${more}`])].join(", ");
  return `must be one of ${allowed}${given === undefined ? "" : `, not ${quoteValue(given)}`}`;
}

/** An object or a list of a request may be large, so it is only named. */
function quoteValue(value: unknown): string {
  if (typeof value === "string") return quoteText(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
