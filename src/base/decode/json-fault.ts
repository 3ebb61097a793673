// Finds the position at which a text stops being JSON. JSON.parse names it only for some errors;
// for others it quotes the text, which answers and logs must not contain. Source: RFC 8259.

import type { Pacer } from "../pacer.ts";

/**
 * Returns a clause for a message, with the position as JSON.parse counts: UTF-16 units from 0.
 * Parses the text up to 20 times, and lets other requests run in between.
 */
export async function describeJsonFault(text: string, pacer: Pacer): Promise<string> {
  const at = await findJsonFault(text, pacer);
  const word = ["NaN", "Infinity"].find((one) => text.startsWith(one, at));
  // A frequent mistake of JSON writers, so it has its own message.
  if (word) return `${word} at position ${at} is no JSON number`;
  return `unexpected ${at >= text.length ? "end" : "character"} at position ${at}`;
}

/**
 * Returns the index of the first character that no JSON text can have there, or the length: the
 * length of the longest prefix that more text can complete, found by binary search.
 */
async function findJsonFault(text: string, pacer: Pacer): Promise<number> {
  let at = 0;
  let end = text.length;
  while (at < end) {
    if (pacer.due()) await pacer.rest();
    const middle = Math.ceil((at + end) / 2);
    const fault = namedFault(text.slice(0, middle));
    if (fault === middle) at = middle;
    else end = fault ?? middle - 1;
    // The message of JSON.parse contains the position.
    if (fault !== undefined && fault < middle) return fault;
  }
  return at;
}

/**
 * Returns the position of a fault, which is the length if more text can complete the text;
 * undefined if JSON.parse does not name it.
 */
function namedFault(text: string): number | undefined {
  try {
    JSON.parse(text);
    return text.length;
  } catch (error) {
    const { message } = error as Error;
    if (message === "Unexpected end of JSON input") return text.length;
    const position = / in JSON at position (\d+) /.exec(message)?.[1];
    return position === undefined ? undefined : Number(position);
  }
}
