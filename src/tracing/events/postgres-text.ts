// Reversibly escapes text that Postgres refuses, NUL and lone surrogates: U+E000 and four hex
// digits of the code unit, for U+E000 itself too. All text in a project's tables is escaped, and
// filter values are too, so that they compare alike.

const escapeMark = "\uE000";
// Matches lone surrogates only: a pair is one code point under the `u` flag.
const refused = /[\0\uE000\p{Cs}]/gu;
const escaped = /\uE000([0-9a-f]{4})/g;
// JSON.stringify has already written NUL and lone surrogates as lower-case escapes. An even run of
// backslashes before an escape belongs to other characters.
const refusedInJson = /(?<!\\)((?:\\\\)*)\\u(0000|d[89a-f][0-9a-f]{2})|\uE000/g;

/**
 * Returns `text` with the code units that Postgres refuses escaped. `unescapeText` is its inverse.
 */
export function escapeText(text: string): string {
  if (isStorable(text)) return text;
  return text.replace(refused, (unit) => escapeMark + hexOf(unit));
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0") && !text.includes(escapeMark);
}

/** Returns null for null, and else the same as `escapeText`. */
export function escapeOrNull(text: string | null): string | null {
  return text === null ? null : escapeText(text);
}

/** Returns the original of a text that `escapeText` returned. */
export function unescapeText(text: string): string {
  if (!text.includes(escapeMark)) return text;
  return text.replace(escaped, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}

/** Returns null for null, and else the same as `unescapeText`. */
export function unescapeOrNull(text: string | null): string | null {
  return text === null ? null : unescapeText(text);
}

/** Whether `escapeJson` may change a JSON text; false for most texts. */
export function mayNeedEscape(json: string): boolean {
  return json.includes("\\u") || json.includes(escapeMark);
}

/**
 * Returns the number of UTF-16 units of a text that `escapeText` escapes; stops behind `countMax`.
 */
export function countEscapes(text: string, countMax: number): number {
  if (isStorable(text)) return 0;
  return text
    .matchAll(refused)
    .take(countMax + 1)
    .reduce((count) => count + 1, 0);
}

/** Escapes the strings inside JSON text from JSON.stringify, as `escapeText` does. */
export function escapeJson(json: string): string {
  if (!mayNeedEscape(json)) return json;
  return json.replace(refusedInJson, (match, slashes: string | undefined, hex: string) =>
    match === escapeMark ? `${escapeMark}e000` : `${slashes ?? ""}${escapeMark}${hex}`,
  );
}

/** Returns the original of JSON text that `escapeJson` returned. */
export function unescapeJson(json: string): string {
  if (!json.includes(escapeMark)) return json;
  return json.replace(escaped, (_, hex: string) => `\\u${hex}`);
}

function hexOf(unit: string): string {
  return unit.charCodeAt(0).toString(16).padStart(4, "0");
}
