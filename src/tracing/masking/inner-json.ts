// Masks inside a text that is JSON, such as a tool's arguments, however deep it is wrapped in JSON
// again, and even if it breaks off in the middle. All that is not masked keeps its characters.

import type { CompiledRules } from "./rules.ts";
import type { Work } from "./work.ts";

export type InnerJsonOptions = Pick<CompiledRules, "keys"> &
  Pick<Work, "isDue" | "rest" | "count"> & {
    readonly maskText: (text: string) => Promise<string>;
  };

/**
 * Returns the text with the values of masked keys replaced, and with masked strings; these only
 * where they have escapes, since the others are found in the text itself.
 */
export async function maskInnerJson(text: string, options: InnerJsonOptions): Promise<string> {
  const { keys, maskText, isDue, rest, count } = options;
  const isMeant = keys.size > 0 || text.includes("\\");
  if (!isMeant || !/^\s*[[{]/.test(text)) return text;
  let masked = "";
  let kept = 0;
  const replace = (start: number, end: number, value: string) => {
    masked += text.slice(kept, start) + JSON.stringify(value);
    kept = end;
  };
  for (let start = text.indexOf('"'); start >= 0;) {
    if (isDue()) await rest();
    let end = endOfString(text, start);
    const valueStart = startOfValue(text, end);
    const quoted = text.slice(start, end);
    if (valueStart === undefined) {
      const value = quoted.includes("\\") ? unquote(quoted) : undefined;
      const maskedValue = value === undefined ? undefined : await maskText(value);
      if (maskedValue !== undefined && maskedValue !== value) replace(start, end, maskedValue);
    } else {
      const key = keys.size === 0 ? undefined : unquote(quoted);
      const replacement = key === undefined ? undefined : keys.get(key.toLowerCase());
      end = replacement === undefined ? valueStart : endOfValue(text, valueStart);
      if (replacement !== undefined && end > valueStart) {
        count(replacement, end - valueStart);
        replace(valueStart, end, replacement);
      }
    }
    start = text.indexOf('"', end);
  }
  return kept === 0 ? text : masked + text.slice(kept);
}

/** Returns the place after a string that begins at a quote; the end of the text if it is open. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text[before - 1] === "\\") before -= 1;
    if ((end - before) % 2 === 0) return end + 1;
  }
  return text.length;
}

/** Returns where the value of a key begins; undefined if no colon follows. */
function startOfValue(text: string, keyEnd: number): number | undefined {
  const colon = /\s*:\s*/y;
  colon.lastIndex = keyEnd;
  return colon.test(text) ? colon.lastIndex : undefined;
}

function endOfValue(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return endOfString(text, start);
  if (first !== "{" && first !== "[") {
    const scalar = /[^\s,\]}]*/y;
    scalar.lastIndex = start;
    scalar.test(text);
    return scalar.lastIndex;
  }
  const mark = /["{}[\]]/g;
  mark.lastIndex = start;
  let depth = 0;
  for (let found = mark.exec(text); found; found = mark.exec(text)) {
    if (found[0] === '"') mark.lastIndex = endOfString(text, found.index);
    else depth += found[0] === "{" || found[0] === "[" ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  return text.length;
}

/** Returns undefined if it is no string of JSON. */
function unquote(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    // An open string at the end, or a text that only looks like JSON.
    return undefined;
  }
}
