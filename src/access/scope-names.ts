// Rules for names and descriptions of scopes and keys. Source: docs/decisions.md, 28.

import { assertName, assertText } from "../base/assert-text.ts";
import { refuse } from "../base/errors.ts";
import { scopeDescriptionLengthMax, scopeNameLengthMax } from "../base/tenant-limits.ts";

/** Throws INVALID_ARGUMENT unless a scope or key can have the name. */
export function assertScopeName(name: string): void {
  assertName("name", name, scopeNameLengthMax);
}

/** Throws INVALID_ARGUMENT if a description is too long or is not storable text. */
export function assertDescription(description: string): void {
  assertText("description", description, scopeDescriptionLengthMax);
}

/** Fields of an update. Undefined changes nothing; an empty description removes it. */
export type DescribedChange = {
  readonly name: string | undefined;
  readonly description: string | undefined;
};

/** Throws INVALID_ARGUMENT, naming the wrong field, or if both fields are undefined. */
export function assertChange({ name, description }: DescribedChange): void {
  if (name === undefined && description === undefined) {
    refuse("name", "give a name, a description or both");
  }
  if (name !== undefined) assertScopeName(name);
  if (description !== undefined) assertDescription(description);
}
