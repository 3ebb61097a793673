// Limits of an event, the same for every protocol: lengths of texts and keys, number of values,
// depth, bytes. Source: docs/decisions.md, 4, 5, 9 and 36.3.

import { isJsonArray, type JsonObject, type JsonValue } from "../../base/json.ts";
import {
  errorLengthMax,
  escapedUnitsMax,
  eventBytesMax,
  eventValuesMax,
  keyLengthMax,
  listItemsMax,
  metadataValuesMax,
  nameLengthMax,
  nestingDepthMax,
} from "../../base/limits.ts";
import { countEscapes } from "./postgres-text.ts";
import { type Bucket, buckets, type EventFields } from "./event.ts";

/** Weight of a writer's fields, or the field and fault that no event may have. */
export type Weighed =
  | {
      readonly values: number;
      /** Approximate microseconds that Postgres takes to store the event. */
      readonly cost: number;
    }
  | { readonly fault: string };

/**
 * Measured: the cost of an event, and the number of characters that cost 1. Each value costs 1 too.
 */
const eventCost = 100;
const charactersPerCost = 32;

/** Names of buckets in requests that name them otherwise, for faults. */
export type BucketNames = { readonly [B in Bucket]?: string };

/** Weighs the fields that a writer gives. Ids are checked when parsed. */
export function weighFields(fields: EventFields, names: BucketNames = {}): Weighed {
  const fault = textFaultOf(fields);
  if (fault !== undefined) return { fault };
  const escapes = fields.error === undefined ? 0 : countEscapes(fields.error, escapedUnitsMax);
  if (escapes > escapedUnitsMax) return { fault: `error: ${tooManyEscapes}` };
  const weight: Weight = { values: 0, length: 0, escapes, valuesMax: 0 };
  for (const bucket of buckets) {
    const value = fields[bucket];
    if (value === undefined) continue;
    const own = bucket === "metadata" ? metadataValuesMax : eventValuesMax;
    weight.valuesMax = Math.min(weight.values + own, eventValuesMax);
    if (weigh(value, nestingDepthMax, weight)) continue;
    return { fault: faultOf(value, names[bucket] ?? bucket, weight) };
  }
  if (weight.length * escapedBytesMax > eventBytesMax && bytesOf(fields) > eventBytesMax) {
    const largest = largestOf(fields);
    const name = names[largest] ?? largest;
    return { fault: `${name}: the event has more than ${eventBytesMax} bytes as JSON` };
  }
  const cost = eventCost + weight.values + weight.length / charactersPerCost;
  return { values: weight.values, cost };
}

/**
 * Returns the fault, with its path, that keeps an event from holding a value in its bucket;
 * undefined if there is none.
 */
export function bucketFaultOf(value: JsonObject, path: string): string | undefined {
  const valuesMax = path === "metadata" ? metadataValuesMax : eventValuesMax;
  const weight: Weight = { values: 0, length: 0, escapes: 0, valuesMax };
  return weigh(value, nestingDepthMax, weight) ? undefined : faultOf(value, path, weight);
}

const lengthsMax = {
  event_name: nameLengthMax,
  source: nameLengthMax,
  error: errorLengthMax,
} as const;

function textFaultOf(fields: EventFields): string | undefined {
  for (const field of ["event_name", "source", "error"] as const) {
    const fault = lengthFaultOf(fields[field], lengthsMax[field]);
    if (fault !== undefined) return `${field}: ${fault}`;
  }
  if ((fields.children_ids?.length ?? 0) <= listItemsMax) return undefined;
  return `children_ids: has more than ${listItemsMax} items`;
}

/** Returns a fault if a text is longer than `lengthMax` UTF-16 units. */
export function lengthFaultOf(text: string | undefined, lengthMax: number): string | undefined {
  const isShort = text === undefined || text.length <= lengthMax;
  return isShort ? undefined : `is longer than ${lengthMax} characters`;
}

type Weight = {
  values: number;
  /** Length of the JSON text, in UTF-16 units without escapes. */
  length: number;
  /** UTF-16 units that postgres-text.ts escapes. */
  escapes: number;
  valuesMax: number;
};

/**
 * Maximum bytes of one UTF-16 unit in Postgres' JSON: NUL becomes a 3-byte mark and four digits.
 */
const escapedBytesMax = 7;

/** Length of texts that cost more as values than by their escapes. */
const shortTextLength = 16;

const tooManyEscapes =
  `the event has more than ${escapedUnitsMax} characters that Postgres cannot store as they are: ` +
  "NUL, lone surrogates, U+E000";

/** Adds a value to the weight. Returns false, and stops, at a value that an event cannot hold. */
function weigh(value: unknown, depth: number, weight: Weight): boolean {
  weight.values += 1;
  if (weight.values > weight.valuesMax) return false;
  if (typeof value === "string") {
    weight.length += value.length + 4;
    if (value.length <= shortTextLength) return true;
    weight.escapes += countEscapes(value, escapedUnitsMax);
    return weight.escapes <= escapedUnitsMax;
  }
  if (typeof value === "number") {
    if (!Number.isFinite(value)) return false;
    weight.length += lengthOfNumber(value);
  } else if (typeof value !== "object" || value === null) weight.length += 7;
  else if (depth === 0) return false;
  else if (Array.isArray(value)) {
    weight.length += 2;
    for (const item of value as unknown[]) if (!weigh(item, depth - 1, weight)) return false;
  } else {
    weight.length += 2;
    for (const key in value) {
      if (key.length > keyLengthMax) return false;
      weight.length += key.length + 4;
      const inner = (value as Record<string, unknown>)[key];
      if (!weigh(inner, depth - 1, weight)) return false;
    }
  }
  return true;
}

/**
 * Returns the length of a number as Postgres writes it: without an exponent, 1e300 has 301 digits.
 */
function lengthOfNumber(value: number): number {
  const size = Math.abs(value);
  if (size < 1e6 && Number.isInteger(value)) return 9;
  if (size < 1e21 && size >= 1e-6) return 24;
  return 24 + Math.abs(Math.log10(size));
}

function faultOf(value: JsonObject, path: string, weight: Weight): string {
  const { values, valuesMax, escapes } = weight;
  if (escapes > escapedUnitsMax) return `${path}: ${tooManyEscapes}`;
  if (values > valuesMax && path === "metadata") {
    return `metadata: has more than ${metadataValuesMax} values, too many for its index`;
  }
  if (values > valuesMax) return `${path}: the event has more than ${eventValuesMax} values`;
  return findFault(value, path, nestingDepthMax) ?? `${path}: cannot be stored`;
}

// `weigh` runs for every event, so the path of a fault is computed only if there is a fault.
function findFault(value: unknown, path: string, depth: number): string | undefined {
  if (typeof value === "number" && !Number.isFinite(value)) {
    return `${path}: must be a finite number`;
  }
  if (typeof value !== "object" || value === null) return undefined;
  if (depth === 0) return `${path}: is nested deeper than ${nestingDepthMax} levels`;
  for (const [key, inner] of Object.entries(value)) {
    if (key.length > keyLengthMax)
      return `${path}: has a key longer than ${keyLengthMax} characters`;
    const fault = findFault(inner, `${path}.${key}`, depth - 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

// Counts exact bytes, for events of megabytes only.
function bytesOf(fields: EventFields): number {
  let bytes = (fields.error?.length ?? 0) + (fields.children_ids?.join("").length ?? 0);
  for (const bucket of buckets) bytes += bytesOfValue(fields[bucket] ?? {});
  return bytes;
}

function bytesOfValue(value: JsonValue): number {
  if (typeof value === "string") return bytesOfText(value);
  if (typeof value === "number") return Math.max(String(value).length, lengthOfNumber(value) - 24);
  if (typeof value !== "object" || value === null) return 5;
  let bytes = 2;
  if (isJsonArray(value)) for (const item of value) bytes += bytesOfValue(item) + 2;
  else for (const key in value) bytes += bytesOfText(key) + bytesOfValue(value[key] ?? null) + 4;
  return bytes;
}

const quote = 0x22;
const backslash = 0x5c;
const escapeMark = 0xe000;

/**
 * Returns the bytes of a text in Postgres' JSON, as postgres-text.ts escapes it; a surrogate pair
 * takes 4.
 */
function bytesOfText(text: string): number {
  let bytes = 2;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0 || unit === escapeMark) bytes += escapedBytesMax;
    else if (unit < 0x20) bytes += 6;
    else if (unit === quote || unit === backslash) bytes += 2;
    else if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit <= 0xdfff) bytes += bytesOfSurrogate(text, at);
    else bytes += 3;
  }
  return bytes;
}

function bytesOfSurrogate(text: string, at: number): number {
  const isHigh = text.charCodeAt(at) < 0xdc00;
  const other = text.charCodeAt(isHigh ? at + 1 : at - 1);
  const isPaired = isHigh ? other >= 0xdc00 && other <= 0xdfff : other >= 0xd800 && other < 0xdc00;
  return isPaired ? 2 : escapedBytesMax;
}

function largestOf(fields: EventFields): Bucket {
  const sizes = buckets.map((bucket) => ({ bucket, bytes: bytesOfValue(fields[bucket] ?? {}) }));
  return sizes.reduce((a, b) => (b.bytes > a.bytes ? b : a)).bucket;
}
