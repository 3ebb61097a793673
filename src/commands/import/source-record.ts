// A record of an export while it is mapped: fields by name, which of them were used, and the rest,
// which stays raw. Source: docs/moving-in.md.

import { deriveUuid, formatUuid, isUuid } from "../../base/ids.ts";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type MutableObject,
  setOwn,
  tryParseJson,
} from "../../base/json.ts";
import { parseTimeMs } from "../../base/iso-time.ts";
import { toNumber } from "../../tracing/spans/values.ts";

/** Error for a record that becomes no event; the message is the reason in the report. */
export class BadRecord extends Error {}

export type SourceRecord = {
  /** Returns a field and counts it as mapped; undefined if it is absent or null. */
  take(name: string): JsonValue | undefined;
  /** Returns a field that stays as it is. */
  look(name: string): JsonValue | undefined;
  /** Returns the fields that nothing took, nulls left out, under the names of the export. */
  rest(): JsonObject;
  /** Returns the names of the fields that `take` returned. */
  taken(): readonly string[];
};

/** Reads an object; `isCamel` gives names in camelCase as snake_case. */
export function readRecord(source: JsonObject, isCamel = false): SourceRecord {
  const fields = new Map<string, readonly [string, JsonValue]>();
  for (const [name, value] of Object.entries(source)) {
    if (value === null) continue;
    const plain = isCamel ? toSnake(name) : name;
    // A field in both ways of writing is there twice; the second one stays raw.
    fields.set(fields.has(plain) ? `${plain} as ${name}` : plain, [name, value]);
  }
  const taken = new Set<string>();
  const look = (name: string) => fields.get(name)?.[1];
  return {
    look,
    take(name) {
      if (fields.has(name)) taken.add(name);
      return look(name);
    },
    rest() {
      const left = [...fields].filter(([name]) => !taken.has(name));
      return Object.fromEntries(left.map(([, [name, value]]) => [name, value]));
    },
    taken: () => [...taken],
  };
}

function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns a field as text, numbers too; undefined if it is absent, empty or of another type. */
export function takeText(record: SourceRecord, name: string): string | undefined {
  const value = record.look(name);
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || text === "") return undefined;
  record.take(name);
  return text;
}

/** Returns an id; throws BadRecord if it is absent. */
export function takeId(record: SourceRecord, name: string): string {
  const id = takeText(record, name);
  if (id === undefined) throw new BadRecord(`${name} is required`);
  return id;
}

/** Returns a number, or decimal text of one. */
export function takeNumber(record: SourceRecord, name: string): number | undefined {
  const number = toNumber(record.look(name));
  if (number !== undefined) record.take(name);
  return number;
}

/** Returns Unix milliseconds; throws BadRecord if the field is present and is not a time. */
export function takeTime(record: SourceRecord, name: string): number | undefined {
  const value = record.take(name);
  if (value === undefined || value === "") return undefined;
  const timeMs = parseTimeMs(value);
  if (timeMs === undefined) throw new BadRecord(`${name} is not a time`);
  return timeMs;
}

/** Returns a value, or what JSON text of an object or a list says. */
export function unpack(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  return tryParseJson(value) ?? value;
}

/** Returns the session id of a trace: its own UUID, 32 hex digits as one, else a derived UUID. */
export function toSessionId(format: string, traceId: string): string {
  if (isUuid(traceId)) return traceId.toLowerCase();
  if (/^[0-9a-f]{32}$/i.test(traceId)) return formatUuid(traceId.toLowerCase());
  return deriveUuid(`${format} trace ${traceId}`);
}

/** Returns the event id of a step: its own UUID unless the session has it, else a derived UUID. */
export function toEventId(format: string, traceId: string, id: string): string {
  const isOwn = isUuid(id) && id.toLowerCase() !== toSessionId(format, traceId);
  return isOwn ? id.toLowerCase() : deriveUuid(`${format} step ${traceId} ${id}`);
}

/** Keys of metadata with a meaning in Waggle: a value of the export must not claim one. */
const reservedKeys = new Set([
  "cost",
  "completion_tokens",
  "datapoint_id",
  "dataset_id",
  "input_tokens",
  "output_tokens",
  "prompt_tokens",
  "run_id",
  "total_tokens",
]);

export type MetadataParts = {
  /** Free-form metadata of the export. */
  readonly given: JsonValue | undefined;
  /** Keys that the mapping sets. */
  readonly own: JsonObject;
  /** Fields that stay raw. */
  readonly raw: JsonObject;
};

/** Returns metadata: given keys where they are free, and all else under the format's own key. */
export function toMetadata(format: string, { given, own, raw }: MetadataParts): JsonObject {
  const read = unpack(given);
  const free: MutableObject = {};
  const taken: MutableObject = {};
  for (const [key, value] of Object.entries(isJsonObject(read) ? read : {})) {
    const isTaken = reservedKeys.has(key) || Object.hasOwn(own, key) || key === format;
    setOwn(isTaken ? taken : free, key, value);
  }
  const hasOther = read !== undefined && !isJsonObject(read);
  const left = hasOther ? { metadata: read } : hasKeys(taken) ? { metadata: taken } : {};
  const kept = { ...left, ...raw };
  return { ...free, ...own, ...(hasKeys(kept) ? { [format]: kept } : {}) };
}

export function hasKeys(value: JsonObject): boolean {
  return Object.keys(value).length > 0;
}

/** Returns the items of a list; undefined for anything else. */
export function listOf(value: JsonValue | undefined): readonly JsonValue[] | undefined {
  const read = unpack(value);
  return isJsonArray(read) ? read : undefined;
}
