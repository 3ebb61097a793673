// Memory that JSON takes once it is parsed, told from its text. Source: docs/generations.md, "What
// happens to a call".

/**
 * Bytes of an object or array beside its text. Measured in V8: 40 for `[]`, 64 for `{}`, 180 for an
 * object whose key no other one has. Text takes a byte or two for each of its own.
 */
export const containerBytes = 128;

const openBracket = 0x5b;
const openBrace = 0x7b;

/** Counts what opens an object or array; those in texts count too. */
export function countOpenings(json: Uint8Array): number {
  let count = 0;
  for (const byte of json) if (byte === openBracket || byte === openBrace) count += 1;
  return count;
}

/** Returns the bytes that a value of JSON takes, roughly. */
export function memoryOf(value: unknown): number {
  return memoryOfText(JSON.stringify(value) ?? "");
}

/** Returns the bytes that the value of a JSON text takes, roughly. */
export function memoryOfText(json: string): number {
  let openings = 0;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === openBracket || code === openBrace) openings += 1;
  }
  return json.length + containerBytes * openings;
}
