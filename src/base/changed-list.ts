// Lists of a change. A list that is absent from a message is empty in it, so a message names the
// lists that it empties. Source: docs/decisions.md, 12.1.

import { parseChoice } from "./choices.ts";

/**
 * Returns a reader of the lists of a change. `names` are all lists that the message can change, and
 * `emptied` are those that it empties. Fails with INVALID_ARGUMENT if `emptied` has another name.
 */
export function changedLists(names: readonly string[], emptied: readonly string[]) {
  emptied.forEach((name, at) => parseChoice(`emptied_lists[${at}]`, names, name));

  /** Returns the list that a change gives; undefined if the one before stays. */
  return <T>(name: string, given: readonly T[]): readonly T[] | undefined =>
    given.length > 0 || emptied.includes(name) ? given : undefined;
}
