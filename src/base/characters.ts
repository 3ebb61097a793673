// Characters of texts from callers: whether all can be printed, and how many there are.

/** Matches control characters, lone surrogates, line and paragraph separators. */
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Returns whether a text has printable characters alone. */
export function isPrintable(text: string): boolean {
  return !unprintable.test(text);
}

/** Returns whether a text has more characters; an emoji is one, not two UTF-16 units. */
export function isLonger(text: string, charactersMax: number): boolean {
  if (text.length <= charactersMax) return false;
  return text.length > 2 * charactersMax || Array.from(text).length > charactersMax;
}
