// Decodes free-form values of Protobuf (`google.protobuf.Struct`, `Value`, `ListValue`) directly to
// JSON values, in pieces. Their messages would take ten times the memory of the values.
// Source: google/protobuf/struct.proto.

import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isJsonObject } from "../../base/json.ts";
import type { Pacer } from "../../base/pacer.ts";
import { type Cursor, lengthType, readEnd, readTag, readVarint, skipValue } from "./wire.ts";

type Json = Record<string, JsonValue>;

/** Maximum bytes of a value that is read at once, in well under a millisecond. */
const wholeBytesMax = 65_536;

/** Number of small members that are read between two checks of the clock. */
const stepMembers = 256;

/** As the library's: U+FEFF at the start of a text is a character of it. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads a Struct that ends at `end` into an object, and replaces members of the same name. */
export async function readStruct(
  cursor: Cursor,
  end: number,
  object: JsonObject,
  pacer: Pacer,
): Promise<void> {
  if (end - cursor.at <= wholeBytesMax) {
    readStructNow(cursor, end, object);
    return;
  }
  for (let count = 1; cursor.at < end; count += 1) {
    if (count % stepMembers === 0 && pacer.due()) await pacer.rest();
    const tag = readTag(cursor);
    if (tag !== tagOf(1)) {
      skipValue(cursor, tag, end);
      continue;
    }
    const entryEnd = readEnd(cursor, end);
    const entry = anEntry(entryEnd);
    while (!passEntry(cursor, entryEnd, entry, stepMembers)) {
      if (pacer.due()) await pacer.rest();
    }
    const value = readMember(placeAt(cursor, entry.valueAt), entry.valueEnd, pacer);
    setMember(object, keyOf(cursor, entry), value instanceof Promise ? await value : value);
  }
}

/**
 * Reads a member, without a promise if it is small: awaiting each of a million numbers would cost
 * more than reading them.
 */
function readMember(cursor: Cursor, end: number, pacer: Pacer): JsonValue | Promise<JsonValue> {
  const isSmall = end - cursor.at <= wholeBytesMax;
  return isSmall ? readValueNow(cursor, end) : readValue(cursor, end, pacer);
}

async function readValue(cursor: Cursor, end: number, pacer: Pacer): Promise<JsonValue> {
  let value: JsonValue = null;
  for (let count = 1; cursor.at < end; count += 1) {
    if (count % stepMembers === 0 && pacer.due()) await pacer.rest();
    const tag = readTag(cursor);
    if (tag === tagOf(5)) {
      const object = objectOf(value);
      await readStruct(cursor, readEnd(cursor, end), object, pacer);
      value = object;
    } else if (tag === tagOf(6)) {
      const list = listOf(value);
      await readList(cursor, readEnd(cursor, end), list, pacer);
      value = list;
    } else {
      const scalar = readScalar(cursor, tag, end);
      if (scalar !== undefined) value = scalar;
    }
  }
  return value;
}

// A container that comes twice in a row is merged, as any message that comes twice.

function objectOf(before: JsonValue): JsonObject {
  return isJsonObject(before) ? before : {};
}

function listOf(before: JsonValue): JsonValue[] {
  return Array.isArray(before) ? before : [];
}

async function readList(
  cursor: Cursor,
  end: number,
  list: JsonValue[],
  pacer: Pacer,
): Promise<void> {
  for (let count = 1; cursor.at < end; count += 1) {
    if (count % stepMembers === 0 && pacer.due()) await pacer.rest();
    const tag = readTag(cursor);
    if (tag === tagOf(1)) {
      const item = readMember(cursor, readEnd(cursor, end), pacer);
      list.push(item instanceof Promise ? await item : item);
    } else skipValue(cursor, tag, end);
  }
}

function readStructNow(cursor: Cursor, end: number, object: JsonObject): void {
  while (cursor.at < end) {
    const tag = readTag(cursor);
    if (tag !== tagOf(1)) {
      skipValue(cursor, tag, end);
      continue;
    }
    const entryEnd = readEnd(cursor, end);
    const entry = anEntry(entryEnd);
    passEntry(cursor, entryEnd, entry, Infinity);
    const value = readValueNow(placeAt(cursor, entry.valueAt), entry.valueEnd);
    setMember(object, keyOf(cursor, entry), value);
  }
}

function readValueNow(cursor: Cursor, end: number): JsonValue {
  let value: JsonValue = null;
  while (cursor.at < end) {
    const tag = readTag(cursor);
    if (tag === tagOf(5)) {
      const object = objectOf(value);
      readStructNow(cursor, readEnd(cursor, end), object);
      value = object;
    } else if (tag === tagOf(6)) {
      const listEnd = readEnd(cursor, end);
      const list = listOf(value);
      while (cursor.at < listEnd) {
        const itemTag = readTag(cursor);
        if (itemTag === tagOf(1)) list.push(readValueNow(cursor, readEnd(cursor, listEnd)));
        else skipValue(cursor, itemTag, listEnd);
      }
      value = list;
    } else {
      const scalar = readScalar(cursor, tag, end);
      if (scalar !== undefined) value = scalar;
    }
  }
  return value;
}

/** Reads a member that is not a container; returns undefined for an unknown field. */
function readScalar(cursor: Cursor, tag: number, end: number): JsonValue | undefined {
  const { bytes } = cursor;
  const start = cursor.at;
  switch (tag) {
    case nullTag:
      readVarint(cursor);
      return null;
    case numberTag:
      skipValue(cursor, tag, end);
      return new DataView(bytes.buffer, bytes.byteOffset + start, 8).getFloat64(0, true);
    case tagOf(3):
      return readText(cursor, readEnd(cursor, end));
    case booleanTag:
      return readVarint(cursor) !== 0;
    default:
      skipValue(cursor, tag, end);
      return undefined;
  }
}

/** Tags of `Value`: null_value 1 and bool_value 4 are varints, number_value 2 has 8 bytes. */
const nullTag = 1 << 3;
const numberTag = (2 << 3) | 1;
const booleanTag = 4 << 3;

function tagOf(number: number): number {
  return (number << 3) | lengthType;
}

/** Positions of a map entry's key and value; an absent key or value is empty. */
type Entry = { keyAt: number; keyEnd: number; valueAt: number; valueEnd: number };

function anEntry(end: number): Entry {
  return { keyAt: end, keyEnd: end, valueAt: end, valueEnd: end };
}

/**
 * Reads up to `fieldsMax` fields of an entry; the last key and the last value count. Returns
 * whether the entry is at its end.
 */
function passEntry(cursor: Cursor, end: number, entry: Entry, fieldsMax: number): boolean {
  for (let count = 0; cursor.at < end; count += 1) {
    if (count >= fieldsMax) return false;
    const tag = readTag(cursor);
    if (tag === tagOf(1)) {
      entry.keyEnd = readEnd(cursor, end);
      entry.keyAt = cursor.at;
      cursor.at = entry.keyEnd;
    } else if (tag === tagOf(2)) {
      entry.valueEnd = readEnd(cursor, end);
      entry.valueAt = cursor.at;
      cursor.at = entry.valueEnd;
    } else skipValue(cursor, tag, end);
  }
  return true;
}

function keyOf(cursor: Cursor, { keyAt, keyEnd }: Entry): string {
  return readText(placeAt(cursor, keyAt), keyEnd);
}

function placeAt({ bytes }: Cursor, at: number): Cursor {
  return { bytes, at };
}

/** Maximum bytes of a text decoded here; for longer texts the cost of a native call pays off. */
const shortTextBytes = 24;

function readText(cursor: Cursor, end: number): string {
  const { bytes, at } = cursor;
  cursor.at = end;
  if (end - at <= shortTextBytes) {
    let text = "";
    let index = at;
    for (; index < end; index += 1) {
      const byte = bytes[index] as number;
      if (byte > 0x7f) break;
      text += String.fromCharCode(byte);
    }
    if (index === end) return text;
  }
  return utf8.decode(bytes.subarray(at, end));
}

function setMember(object: Json, key: string, value: JsonValue): void {
  if (key !== "__proto__") object[key] = value;
  else {
    const property = { value, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(object, key, property);
  }
}
