// Keeps text that Postgres refuses, NUL and lone surrogates, in a form that reads back as it came:
// U+E000 and four hex digits of the code unit, U+E000 itself among them. Called wherever text
// enters or leaves a project's tables; filter values are escaped too, so that they compare alike.

const escapeMark = "\uE000";
// Lone surrogates only: a pair is one code point under the `u` flag and does not match.
const refused = /[\0\uE000\p{Cs}]/gu;
const escaped = /\uE000([0-9a-f]{4})/g;
// In JSON text, JSON.stringify has already written NUL and lone surrogates as lower-case escapes.
// An even run of backslashes before one belongs to other characters.
const refusedInJson = /(?<!\\)((?:\\\\)*)\\u(0000|d[89a-f][0-9a-f]{2})|\uE000/g;

/** Returns `text` with the code units that Postgres refuses escaped; `unescapeText` undoes it. */
export function escapeText(text: string): string {
  if (text.isWellFormed() && !text.includes("\0") && !text.includes(escapeMark)) return text;
  return text.replace(refused, (unit) => escapeMark + hexOf(unit));
}

/** Returns the text that `escapeText` was given. */
export function unescapeText(text: string): string {
  if (!text.includes(escapeMark)) return text;
  return text.replace(escaped, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}

/** Escapes JSON text made by JSON.stringify as `escapeText` does the strings in it. */
export function escapeJson(json: string): string {
  if (!json.includes("\\u") && !json.includes(escapeMark)) return json;
  return json.replace(refusedInJson, (match, slashes: string | undefined, hex: string) =>
    match === escapeMark ? `${escapeMark}e000` : `${slashes ?? ""}${escapeMark}${hex}`,
  );
}

/** Returns JSON text whose strings are those that `escapeJson` was given. */
export function unescapeJson(json: string): string {
  if (!json.includes(escapeMark)) return json;
  return json.replace(escaped, (_, hex: string) => `\\u${hex}`);
}

function hexOf(unit: string): string {
  return unit.charCodeAt(0).toString(16).padStart(4, "0");
}
