// Reads a Protobuf message from a JSON value, in the JSON form of Connect and gRPC. Its memory is
// estimated first, and a large value is read in parts, so that other requests wait only
// milliseconds. Source: Protobuf JSON mapping; docs/limits.md.

import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import type { Reservation } from "../../base/byte-budget.ts";
import { ServiceError } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import { listItemsMax, messageDepthMax } from "../../base/limits.ts";
import { createPacer, type Pacer } from "../../base/pacer.ts";
import { isLarge } from "../encode/large.ts";
import { atIndex, FieldFault, withinField } from "../rest/field-fault.ts";
import { checkFreeForm } from "../rest/json-values.ts";
import { findJsonFault } from "./json-fault.ts";
import { isLooseField, isStructField, oneofBytes, shapeOf } from "./protobuf-shape.ts";
import {
  countLoose,
  type GatheredMemory,
  gatherMemory,
  tooManyItems,
} from "../../base/decode/tally.ts";

const readOptions = { ignoreUnknownFields: true, recursionLimit: messageDepthMax };

type Reading = {
  readonly pacer: Pacer;
  /** Number of values in free-form fields that are not buckets, in all parts so far. */
  readonly loose: { count: number };
  readonly memory: GatheredMemory;
};

/**
 * Returns the message of a JSON value. Throws INVALID_ARGUMENT naming the field that does not fit,
 * MALFORMED_BODY if the value does not fit for another cause, INVALID_ARGUMENT if a list is too
 * long, and BODY_TOO_LARGE or OVERLOADED if there is no memory for the message.
 */
export async function messageFromJson(
  desc: DescMessage,
  json: unknown,
  memory: Reservation,
): Promise<Message> {
  const reading: Reading = {
    pacer: createPacer(memory.holder),
    loose: { count: 0 },
    memory: gatherMemory(memory),
  };
  try {
    const message = await readMessage(desc, json, reading, 0);
    reading.memory.end();
    return message;
  } catch (error) {
    if (!(error instanceof FieldFault)) throw error;
    const text = error.path === "" ? `the body ${error.message}` : error.text;
    throw new ServiceError("INVALID_ARGUMENT", text, { cause: error });
  }
}

/** Reads a message: its large fields one by one, all others at once. */
async function readMessage(
  desc: DescMessage,
  json: unknown,
  reading: Reading,
  depth: number,
): Promise<Message> {
  if (reading.pacer.due()) await reading.pacer.rest();
  if (!isJsonObject(json) || depth > messageDepthMax || !isLarge(json)) {
    return readNow(desc, json, reading);
  }
  const rest: Record<string, unknown> = { ...json };
  const parts: (readonly [DescField, unknown])[] = [];
  for (const [name, field] of fieldsOf(desc)) {
    const value = json[name];
    if (!isDivisible(field) || value === undefined || !isLarge(value)) continue;
    if (field.fieldKind === "list" ? !Array.isArray(value) : !isJsonObject(value)) continue;
    parts.push([field, value]);
    Reflect.deleteProperty(rest, name);
  }
  const message = readNow(desc, rest, reading);
  for (const [field, value] of parts) {
    try {
      setField(message, field, await readPart(field, value, reading, depth));
    } catch (error) {
      throw withinField(error, field.name);
    }
  }
  return message;
}

/**
 * Returns whether a field can be read in parts: messages, lists of messages, and buckets. A large
 * list of texts needs no parts, since it is read in milliseconds.
 */
function isDivisible(field: DescField): boolean {
  if (!field.message || field.fieldKind === "map") return false;
  return isStructField(field) || !field.message.typeName.startsWith("google.protobuf.");
}

async function readPart(
  field: DescField,
  value: unknown,
  reading: Reading,
  depth: number,
): Promise<unknown> {
  const { message: desc } = field;
  if (!desc) throw new Error(`${field.name} is no message`);
  if (field.fieldKind !== "list") {
    if (isStructField(field)) return asBucket(value);
    return readMessage(desc, value, reading, depth + 1);
  }
  const items = value as readonly unknown[];
  if (items.length > listItemsMax) throw tooManyItems(field.name);
  const list: unknown[] = [];
  for (const [index, item] of items.entries()) {
    try {
      list.push(await readMessage(desc, item, reading, depth + 1));
    } catch (error) {
      throw atIndex(error, index);
    }
  }
  return list;
}

/** Checks a bucket and returns it unchanged: buckets are held as JSON. */
function asBucket(value: unknown): unknown {
  checkFreeForm(value);
  return value;
}

function setField(message: Message, field: DescField, value: unknown): void {
  const fields = message as unknown as Record<string, unknown>;
  if (field.oneof) fields[field.oneof.localName] = { case: field.localName, value };
  else fields[field.localName] = value;
}

function readNow(desc: DescMessage, json: unknown, reading: Reading): Message {
  reading.memory.add(messageBytesOf(desc, json, watchOf(reading)));
  try {
    return fromJson(desc, json as JsonValue, readOptions);
  } catch (cause) {
    const fault = findJsonFault(desc, json);
    throw fault ?? new ServiceError("MALFORMED_BODY", (cause as Error).message, { cause });
  }
}

/** Callbacks for the values of a message while its memory is estimated. */
type Watch = {
  list(field: DescField, items: readonly unknown[]): void;
  /** Called with each value of a free-form field that is not a bucket. */
  loose(value: unknown): void;
};

function watchOf({ loose }: Reading): Watch {
  return {
    list(field, items) {
      if (items.length > listItemsMax) throw tooManyItems(field.name);
    },
    loose: (value) => countLoose(value, loose),
  };
}

const watchNothing: Watch = { list: () => undefined, loose: () => undefined };

/** Returns the memory of a message in addition to its JSON, with which it shares its buckets. */
export function messageBytesOf(
  desc: DescMessage,
  json: unknown,
  watch: Watch = watchNothing,
  depth = 0,
): number {
  if (!isJsonObject(json) || depth > messageDepthMax) return 0;
  let bytes = shapeOf(desc).bytes;
  const fields = fieldsOf(desc);
  for (const name of Object.keys(json)) {
    const field = fields.get(name);
    if (!field || field.fieldKind === "map" || isStructField(field)) continue;
    const value = json[name];
    if (field.oneof) bytes += oneofBytes;
    if (isLooseField(field)) watch.loose(value);
    else if (Array.isArray(value)) watch.list(field, value);
    // Base64 in JSON: four characters for three bytes.
    if (field.scalar === ScalarType.BYTES && typeof value === "string")
      bytes += value.length * 0.75;
    if (!field.message) continue;
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const item of items) bytes += messageBytesOf(field.message, item, watch, depth + 1);
  }
  return bytes;
}

const fieldMaps = new Map<DescMessage, ReadonlyMap<string, DescField>>();

/** Returns the fields of a message by proto name and by JSON name. */
function fieldsOf(desc: DescMessage): ReadonlyMap<string, DescField> {
  const known = fieldMaps.get(desc);
  if (known) return known;
  const fields = new Map(
    desc.fields.flatMap((field) => [
      [field.name, field],
      [field.jsonName, field],
    ]),
  );
  fieldMaps.set(desc, fields);
  return fields;
}
