// Objects and arrays of a JSON text, counted before it is parsed: each costs many times its bytes
// afterwards. Called for bodies of requests and for answers of providers.

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const openBrace = 0x7b;

/**
 * Tells whether a JSON text has more than `max` objects and arrays: counts what opens outside of
 * strings. A text too short to hold that many is not looked at.
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
