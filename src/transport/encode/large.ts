// Checks whether a value is too large to be written at once. Source: docs/limits.md.

/** Characters of text that are written at once, in less than a millisecond. */
export const pieceCharsMax = 65_536;

/** Characters that a member or an item counts for in addition to its text. */
const memberChars = 8;

/** Maximum levels that are examined; deeper values count as large, before the stack is full. */
const levelsMax = 1_000;

/** Returns whether a value has more than one piece of text. Stops after as much text. */
export function isLarge(value: unknown): boolean {
  return isLongerThan(value, pieceCharsMax);
}

/** Returns whether a value has more characters of text, with names and numbers. */
export function isLongerThan(value: unknown, chars: number): boolean {
  return charsLeft(value, chars) <= 0;
}

/** Returns `chars` without the characters of a value, or 0 or less if these are as many. */
export function charsLeft(value: unknown, chars: number, level = 0): number {
  if (typeof value === "string") return chars - value.length;
  if (value instanceof Uint8Array) return chars - value.length;
  if (typeof value !== "object" || value === null) return chars - memberChars;
  if (level > levelsMax) return 0;
  let left = chars;
  if (Array.isArray(value)) {
    // for-in would list all indexes of the array first.
    for (let at = 0; at < value.length && left > 0; at += 1) {
      left = charsLeft(value[at], left - memberChars, level + 1);
    }
    return left;
  }
  for (const key in value) {
    left -= key.length + memberChars;
    if (left > 0) left = charsLeft((value as Record<string, unknown>)[key], left, level + 1);
    if (left <= 0) return 0;
  }
  return left;
}
