// Counts the objects and arrays of a JSON text before parsing: each takes many times its bytes in
// memory afterwards.

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const openBrace = 0x7b;

/**
 * Returns true if a JSON text has more than `max` objects and arrays: counts opening brackets
 * outside strings. Does not scan a text too short to hold that many.
 */
export function hasMoreContainers(body: Uint8Array, max: number): boolean {
  if (body.length <= 2 * max) return false;
  let count = 0;
  let isInString = false;
  for (let index = 0; index < body.length; index += 1) {
    const byte = body[index];
    if (isInString) {
      if (byte === backslash) index += 1;
      else if (byte === quote) isInString = false;
    } else if (byte === quote) isInString = true;
    else if ((byte === openBrace || byte === openBracket) && (count += 1) > max) return true;
  }
  return false;
}
