// Checks of a text that a request wants to be stored. Source: docs/decisions.md, 28.

import { isBlank, isLonger, isPrintable } from "./characters.ts";
import { refuse } from "./errors.ts";

/**
 * Throws INVALID_ARGUMENT unless a text can be stored and has at most `charactersMax` characters.
 */
export function assertText(field: string, text: string, charactersMax: number): void {
  if (text.includes("\0") || !text.isWellFormed()) {
    refuse(field, "must hold neither NUL nor half of a surrogate pair");
  }
  assertLength(field, text, charactersMax);
}

/**
 * Throws INVALID_ARGUMENT unless a name has 1 to `charactersMax` printable characters, not all
 * blank.
 */
export function assertName(field: string, name: string, charactersMax: number): void {
  if (name === "") refuse(field, "is required");
  if (isBlank(name)) refuse(field, "must not be blank");
  if (!isPrintable(name)) refuse(field, "must not hold control characters");
  assertLength(field, name, charactersMax);
}

/** Throws INVALID_ARGUMENT if a text has more characters. */
export function assertLength(field: string, text: string, charactersMax: number): void {
  if (isLonger(text, charactersMax))
    refuse(field, `must be at most ${charactersMax} characters long`);
}
