// JSON values and their type checks. Imports nothing.

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

export type JsonObject = { readonly [key: string]: JsonValue };

/** Returns true if a value is a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns true if a value is a JSON array; `Array.isArray` alone types its items as `any`. */
export function isJsonArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Returns whether an object has no field, or is absent. Makes no list of the fields. */
export function isEmpty(object: object | undefined): boolean {
  for (const _ in object) return false;
  return true;
}

/** An object under construction. */
export type MutableObject = Record<string, JsonValue>;

/** Sets an own property for any key. Plain assignment to `__proto__` would lose the value. */
export function setOwn(target: MutableObject, key: string, value: JsonValue): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else {
    target[key] = value;
  }
}

/** Returns an object without some of its keys. */
export function omit(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}

/** Returns an object of all fields that are not undefined. */
export function present(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as JsonObject;
}

/**
 * Returns whether a value nests at most `depthMax` levels of objects and arrays and all its numbers
 * pass `isNumber`. Stops at the first fault, so a hostile value costs no deep recursion.
 */
export function isWithin(
  value: unknown,
  depthMax: number,
  isNumber: (number: number) => boolean,
): boolean {
  if (typeof value === "number") return isNumber(value);
  if (typeof value !== "object" || value === null) return true;
  if (depthMax === 0) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (!isWithin(item, depthMax - 1, isNumber)) return false;
    return true;
  }
  for (const key in value) {
    const inner = (value as Record<string, unknown>)[key];
    if (!isWithin(inner, depthMax - 1, isNumber)) return false;
  }
  return true;
}

/** Returns the value of a JSON text; undefined if the text is not JSON. */
export function tryParseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // The return value reports the failure.
    return undefined;
  }
}

/** Parses UTF-8; a byte order mark before the text is ignored. */
export function tryParseBytes(bytes: Uint8Array): JsonValue | undefined {
  return tryParseJson(new TextDecoder().decode(bytes));
}

/** Look-ups that a search may still make; each one takes one away. */
export type Tries = { left: number };

/**
 * Looks up keys, which may contain dots: of several keys that fit, the longest that leads to a
 * value wins.
 */
export function findValue(
  value: JsonValue | undefined,
  keys: readonly string[],
  tries: Tries,
): JsonValue | undefined {
  const [first] = keys;
  if (first === undefined) return value;
  if (isJsonArray(value)) {
    return /^\d+$/.test(first) ? findValue(value[Number(first)], keys.slice(1), tries) : undefined;
  }
  if (!isJsonObject(value)) return undefined;
  for (let length = keys.length; length > 0; length -= 1) {
    tries.left -= 1;
    if (tries.left < 0) return undefined;
    const key = keys.slice(0, length).join(".");
    if (!Object.hasOwn(value, key)) continue;
    const found = findValue(value[key], keys.slice(length), tries);
    if (found !== undefined) return found;
  }
  return undefined;
}
