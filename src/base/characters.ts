// Characters of texts from callers: whether all can be printed, and how many there are.

/** Matches control characters, lone surrogates, line and paragraph separators. */
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Returns whether a text has printable characters alone. */
export function isPrintable(text: string): boolean {
  return !unprintable.test(text);
}

/** Matches spaces and characters that show nothing, such as U+200B. */
const invisible = /[\s\p{Default_Ignorable_Code_Point}]/gu;

/** Returns whether a text shows nothing. */
export function isBlank(text: string): boolean {
  return text.replace(invisible, "") === "";
}

/** Returns whether a text has more characters; an emoji is one, not two UTF-16 units. */
export function isLonger(text: string, charactersMax: number): boolean {
  if (text.length <= charactersMax) return false;
  return text.length > 2 * charactersMax || Array.from(text).length > charactersMax;
}
