// Who reviews: the signed-in person, or a key with the name that its user gives.
// Source: docs/queues.md; docs/decisions.md, 45.2.

import type { Actor } from "../../base/actor.ts";
import { refuse } from "../../base/errors.ts";
import { reviewerNameLengthMax } from "../../base/field-limits.ts";
import { assertName } from "../../base/assert-text.ts";
import type { Reviewer } from "./review-store.ts";

/**
 * Returns the person on whose behalf an actor reviews. Throws INVALID_ARGUMENT for a name that is
 * blank, too long, or given by a signed-in person, who has one.
 */
export function toReviewer({ type, id, name }: Actor, given: string | undefined): Reviewer {
  if (given === undefined) return { id: `${type}:${id}`, name };
  if (type === "user") refuse("reviewer", "is for calls with a key; you review as yourself");
  assertName("reviewer", given, reviewerNameLengthMax);
  return { id: `${type}:${id}/${given}`, name: given };
}
