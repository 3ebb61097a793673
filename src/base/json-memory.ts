// Memory of parsed JSON, estimated from its text. Source: docs/generations.md, "What happens to a
// call".

/**
 * Bytes of an object or array in addition to its text. Measured in V8: 40 for `[]`, 64 for `{}`,
 * 180 for an object with a key that no other object has. Text takes one or two bytes per byte.
 */
export const containerBytes = 128;

const openBracket = 0x5b;
const openBrace = 0x7b;

/** Counts the opening brackets of objects and arrays, including those inside strings. */
export function countOpenings(json: Uint8Array): number {
  let count = 0;
  for (const byte of json) if (byte === openBracket || byte === openBrace) count += 1;
  return count;
}

/** Returns the approximate bytes in memory of a JSON value. */
export function memoryOf(value: unknown): number {
  return memoryOfText(JSON.stringify(value) ?? "");
}

/** Returns the approximate bytes in memory of the value of a JSON text. */
export function memoryOfText(json: string): number {
  let openings = 0;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === openBracket || code === openBrace) openings += 1;
  }
  return json.length + containerBytes * openings;
}
