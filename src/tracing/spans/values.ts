// JSON values read from attributes: text that contains JSON, dotted keys that form a tree, safe
// keys.

import {
  isJsonArray,
  isJsonObject,
  isWithin,
  type JsonObject,
  type JsonValue,
  type MutableObject,
  setOwn,
} from "../../base/json.ts";
import { eventValuesMax, nestingDepthMax } from "../../base/limits.ts";
import { parsedAttributeLengthMax } from "../../base/tenant-limits.ts";

/**
 * Maximum nesting of an attribute's value. Below the limit of a bucket, because a value may end up
 * some levels down, as in metadata.span_events[0].attributes.
 */
export const valueDepthMax = nestingDepthMax - 8;

/** Maximum segments of a dotted key; the last segment contains the rest. */
const segmentsMax = 32;

/**
 * Parses the text of a JSON object or array. Other values, and text that is not JSON or is nested
 * too deep, are returned unchanged. Numbers in text stay text, because their sender did not declare
 * them numbers.
 */
export function parseJsonText(value: JsonValue): JsonValue {
  if (typeof value !== "string") return value;
  const first = firstVisible(value);
  return first === "{" || first === "[" ? parseScalarText(value) : value;
}

/**
 * Parses text of a sender that writes JSON for every value, so that `"a"` is the text a and 5 a
 * number. Text that is not JSON, or cannot be kept as JSON, is returned unchanged.
 */
export function parseScalarText(value: JsonValue): JsonValue {
  if (typeof value !== "string" || value.length > parsedAttributeLengthMax) return value;
  if (mayHoldMore(value, eventValuesMax)) return value;
  try {
    const parsed = JSON.parse(value) as JsonValue;
    return isWithin(parsed, valueDepthMax, isExact) ? parsed : value;
  } catch {
    // Plain text, or text that only begins like JSON.
    return value;
  }
}

/**
 * Returns whether a JSON text may contain more than `valuesMax` values: counts commas and opening
 * brackets, in strings too.
 */
function mayHoldMore(text: string, valuesMax: number): boolean {
  if (text.length <= valuesMax) return false;
  let marks = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === comma || unit === openBracket || unit === openBrace) marks += 1;
  }
  return marks > valuesMax;
}

const comma = 0x2c;
const openBracket = 0x5b;
const openBrace = 0x7b;

function firstVisible(text: string): string | undefined {
  let at = 0;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at += 1;
  return text[at];
}

/** Returns whether a number is within ±(2^53 - 1); larger integers have lost digits. */
function isExact(number: number): boolean {
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER;
}

type Node = Map<string, Node | Leaf>;
type Leaf = { readonly value: JsonValue };

/**
 * Rebuilds a tree from dotted keys: `tool_calls.0.name` is the name of the first item of an array.
 * Objects whose keys are exactly 0 to n-1 become arrays. A key that runs through another key's
 * value (`a` and `a.b`) stays dotted. The order of the entries does not matter.
 */
export function unflatten(entries: ReadonlyMap<string, JsonValue>): MutableObject {
  const root: Node = new Map();
  // Sorting puts a key before keys that run through its value, for any order of arrival.
  for (const path of [...entries.keys()].sort()) insert(root, path, entries.get(path) ?? null);
  return toObject(root);
}

function insert(root: Node, path: string, value: JsonValue): void {
  let node = root;
  let rest = path;
  for (let depth = 1; depth < segmentsMax; depth += 1) {
    const dot = rest.indexOf(".");
    if (dot <= 0 || dot === rest.length - 1) break;
    const segment = rest.slice(0, dot);
    let next = node.get(segment);
    if (next === undefined) {
      next = new Map();
      node.set(segment, next);
    }
    if (!(next instanceof Map)) break;
    node = next;
    rest = rest.slice(dot + 1);
  }
  node.set(rest, { value });
}

function toValue(node: Node | Leaf): JsonValue {
  if (!(node instanceof Map)) return node.value;
  const items = toItems(node);
  return items ?? toObject(node);
}

function toObject(node: Node): MutableObject {
  const object: MutableObject = {};
  for (const [key, child] of node) setOwn(object, key, toValue(child));
  return object;
}

function toItems(node: Node): JsonValue[] | undefined {
  const items: JsonValue[] = [];
  for (let index = 0; index < node.size; index += 1) {
    const child = node.get(String(index));
    if (child === undefined) return undefined;
    items.push(toValue(child));
  }
  return items;
}

/** Returns a number, or the number that text spells; undefined for anything else. */
export function toNumber(value: JsonValue | undefined): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value !== "string" || value.trim() === "") return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** Adds the values of an object to `target` under the names that `names` gives their keys. */
export function rename(
  values: JsonObject,
  names: Readonly<Record<string, string>>,
  target: Map<string, JsonValue>,
): void {
  for (const [key, name] of Object.entries(names)) {
    const value = Object.hasOwn(values, key) ? (values[key] ?? null) : null;
    if (value !== null) target.set(name, value);
  }
}

/** Returns whether a key is the index of a list. */
export function isIndex(key: string): boolean {
  return /^\d{1,9}$/.test(key);
}

/** Returns the items of an array, or of an object keyed by indexes with gaps, in index order. */
export function itemsOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (isJsonArray(value)) return value;
  if (!isJsonObject(value)) return [];
  return Object.keys(value)
    .filter(isIndex)
    .sort((a, b) => Number(a) - Number(b))
    .map((key) => value[key] ?? null);
}

/** Returns whether two JSON values are equal, object keys in any order. */
export function isSameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (isJsonArray(a) && isJsonArray(b)) {
    return a.length === b.length && a.every((item, index) => isSameJson(item, b[index]));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSameJson(a[key], b[key]))
  );
}
