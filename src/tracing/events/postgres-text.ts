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
  if (text.isWellFormed() && !text.includes("\0") && !text.includes(escapeMark)) return text;
  return text.replace(refused, (unit) => escapeMark + hexOf(unit));
}

/** Returns the original of a text that `escapeText` returned. */
export function unescapeText(text: string): string {
  if (!text.includes(escapeMark)) return text;
  return text.replace(escaped, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}

/** Whether `escapeJson` may change a JSON text; false for most texts. */
export function mayNeedEscape(json: string): boolean {
  return json.includes("\\u") || json.includes(escapeMark);
}

/** Returns the number of UTF-16 units of a text that `escapeText` escapes. */
export function countEscapes(text: string): number {
  if (text.isWellFormed() && !text.includes("\0") && !text.includes(escapeMark)) return 0;
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.codePointAt(at) ?? 0;
    if (unit > 0xffff) at += 1;
    else if (unit === 0 || unit === 0xe000 || (unit >= 0xd800 && unit <= 0xdfff)) count += 1;
  }
  return count;
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
