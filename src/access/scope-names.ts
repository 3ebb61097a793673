// Rules for names and descriptions of scopes and keys. Source: docs/decisions.md, 28.

import { ServiceError } from "../base/errors.ts";
import { scopeDescriptionLengthMax, scopeNameLengthMax } from "../base/tenant-limits.ts";

/** Control characters, lone surrogates, line and paragraph separators. */
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Throws INVALID_ARGUMENT unless the name has 1 to 256 printable characters, not all blank. */
export function assertName(name: string): void {
  const fault = findNameFault(name);
  if (fault !== undefined) throw new ServiceError("INVALID_ARGUMENT", `name: ${fault}`);
}

function findNameFault(name: string): string | undefined {
  if (name.trim() === "") return "must not be blank";
  if (unprintable.test(name)) return "must not hold control characters";
  if (isLonger(name, scopeNameLengthMax))
    return `must be at most ${scopeNameLengthMax} characters long`;
  return undefined;
}

/** Throws INVALID_ARGUMENT if a description is too long or is not storable text. */
export function assertDescription(description: string): void {
  if (description.includes("\0") || !description.isWellFormed()) {
    throw new ServiceError(
      "INVALID_ARGUMENT",
      "description: must hold neither NUL nor half of a surrogate pair",
    );
  }
  if (isLonger(description, scopeDescriptionLengthMax)) {
    throw new ServiceError(
      "INVALID_ARGUMENT",
      `description: must be at most ${scopeDescriptionLengthMax} characters long`,
    );
  }
}

/** Fields of an update. Undefined changes nothing; an empty description removes it. */
export type DescribedChange = {
  readonly name: string | undefined;
  readonly description: string | undefined;
};

/** Throws INVALID_ARGUMENT, naming the wrong field, or if both fields are undefined. */
export function assertChange({ name, description }: DescribedChange): void {
  if (name === undefined && description === undefined) {
    throw new ServiceError("INVALID_ARGUMENT", "name: give a name, a description or both");
  }
  if (name !== undefined) assertName(name);
  if (description !== undefined) assertDescription(description);
}

/** Counts characters, not UTF-16 units: an emoji is one character. */
function isLonger(text: string, lengthMax: number): boolean {
  if (text.length <= lengthMax) return false;
  return text.length > 2 * lengthMax || Array.from(text).length > lengthMax;
}
