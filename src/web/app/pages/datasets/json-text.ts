// The text of JSON editors: a value as text, and the text as a value, with the place of a fault.

import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** Returns a value as indented JSON; empty for an absent one. */
export function formatJson(value: unknown): string {
  return value === undefined || value === null ? "" : JSON.stringify(value, null, 2);
}

/** Parses the text of an object; an empty text is `empty`. */
export function parseObject(text: string, empty: JsonObject | undefined) {
  return parse(text, empty, isObject, "Write a JSON object: { … }.");
}

/** Parses the text of a list of objects. */
export function parseObjects(text: string) {
  return parse(text, [] as JsonObject[], isObjects, "Write a list of JSON objects: [{ … }].");
}

function parse<T, E>(
  text: string,
  empty: E,
  is: (value: JsonValue) => value is T & JsonValue,
  hint: string,
) {
  if (text.trim() === "") return { value: empty as E | T, faults: [] };
  try {
    const value = JSON.parse(text) as JsonValue;
    if (is(value)) return { value: value as E | T, faults: [] };
    return { faults: [{ line: 1, message: hint }] };
  } catch (error) {
    return { faults: [{ line: lineOf(text, error), message: `This is not JSON. ${hint}` }] };
  }
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isObjects(value: JsonValue): value is JsonObject[] {
  return Array.isArray(value) && value.every(isObject);
}

/** Line of a fault, from the position that browsers put into the message. */
function lineOf(text: string, error: unknown): number {
  const message = error instanceof Error ? error.message : "";
  const position = Number(/position (\d+)/.exec(message)?.[1] ?? text.length);
  return text.slice(0, position).split("\n").length;
}
