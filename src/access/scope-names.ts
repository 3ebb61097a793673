// Rules for names and descriptions of scopes, and the error for a name that is taken. Source:
// docs/decisions.md, 28; Postgres manual, appendix A.

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

const uniqueViolation = "23505";

/** Unique indexes on the names of active siblings, with the sibling's description in messages. */
const siblings: Readonly<Record<string, string>> = {
  organizations_name_idx: "another active organization",
  dataplanes_name_idx: "another active data plane of the organization",
  workspaces_name_idx: "another active workspace of the data plane",
  projects_name_idx: "another active project of the workspace",
};

/** Returns the result of `write`. Fails with NAME_TAKEN if an active sibling has the name. */
export async function refuseTakenName<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    const { code, constraint_name: index } = error as { code?: string; constraint_name?: string };
    const sibling = code === uniqueViolation ? siblings[index ?? ""] : undefined;
    if (sibling === undefined) throw error;
    throw new ServiceError("NAME_TAKEN", `name: ${sibling} has it`, { cause: error });
  }
}
