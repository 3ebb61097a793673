// Converts JSON values to messages, with closures compiled once per message from the descriptor.
// Free-form objects (Struct) pass unchanged, so a batch costs one JSON.parse and light checks.
// Source: docs/decisions.md, 2, 4, 9.

import {
  create,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  type Message,
} from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { faultOfChoice } from "../../base/choices.ts";
import { isEmpty, isJsonObject } from "../../base/json.ts";
import { listItemsMax, messageDepthMax } from "../../base/limits.ts";
import { createPacer } from "../../base/pacer.ts";
import type { Reservation } from "../../base/byte-budget.ts";
import type { ItemFault } from "../../access/call.ts";
import { shapeOf } from "../decode/protobuf-shape.ts";
import { countLoose, faultBytes, gatherMemory } from "../../base/decode/tally.ts";
import { atIndex, FieldFault, withinField } from "./field-fault.ts";
import {
  emptiedListsOf,
  hasStrictKeys,
  isAnswerOnly,
  isStruct,
  isTimestamp,
  isValue,
  isWellKnown,
  requestKeysOf,
  treatmentOf,
} from "./field-names.ts";
import { checkFreeForm, parseTime, scalarReader } from "./json-values.ts";

/** State of reading one request: strictness, counts, and the errors of single items. */
export type ReadContext = {
  /** Whether unknown and `(legacy)` keys are errors. */
  readonly isStrict: boolean;
  readonly itemFaults: ItemFault[];
  /** Number of values so far in free-form fields that are not buckets. */
  readonly loose: { count: number };
  /** Bytes of memory of messages and item errors so far, in addition to the JSON that was read. */
  readonly made: { bytes: number };
  /** Lenient lists, whose items `readItems` reads afterwards. */
  readonly lists: ItemList[];
};

/** A list of many records, each read separately. */
export type ItemList = { readonly length: number; readonly readItem: (index: number) => void };

export type MessageReader = (value: unknown, context: ReadContext) => Message;

/** Sets one field of a message from a JSON value, which is null only for a field of type Value. */
export type FieldReader = (message: Message, value: unknown, context: ReadContext) => void;

type ValueReader = (value: unknown, context: ReadContext) => unknown;
type KeyReader = {
  /** Proto name. */
  readonly name: string;
  readonly read: FieldReader;
  readonly isLegacy: boolean;
  /** Whether null is a value of this field, not its absence. */
  readonly takesNull: boolean;
  readonly isMap: boolean;
};

const compiled = new Map<DescMessage, MessageReader>();

/**
 * Returns the reader of a message, which throws FieldFault for the first value that does not fit.
 * Null means absent (but is a value of `google.protobuf.Value`), unknown keys are ignored unless
 * strict or in a message with `(strict_keys)`, and both proto and JSON names are accepted.
 * Items of `(lenient_items)` are read by `readItems`: an item with an error becomes an empty
 * message, and its error goes to the context.
 */
export function messageReader(message: DescMessage): MessageReader {
  const known = compiled.get(message);
  if (known) return known;
  const keys = new Map<string, KeyReader>();
  const { bytes } = shapeOf(message);
  const noteEmptied = emptiedNoter(message);
  const isClosed = hasStrictKeys(message);
  const reader: MessageReader = (value, context) => {
    if (!isJsonObject(value)) throw new FieldFault("must be an object");
    const result = create(message);
    context.made.bytes += bytes;
    const emptied: string[] = [];
    for (const key in value) {
      const item = value[key];
      const known = keys.get(key);
      if (known === undefined || (known.isLegacy && context.isStrict)) {
        if (context.isStrict || isClosed) throw new FieldFault("is not a known key").within(key);
        continue;
      }
      if (item === null && !known.takesNull) continue;
      try {
        known.read(result, item, context);
      } catch (error) {
        throw withinField(error, key);
      }
      if (noteEmptied !== undefined && isEmptied(known, item)) emptied.push(known.name);
    }
    noteEmptied?.(result, emptied);
    return result;
  };
  // Set before the fields are compiled, since a message may contain itself.
  compiled.set(message, reader);
  for (const field of message.fields) {
    if (isAnswerOnly(field)) continue;
    const { isLegacy } = treatmentOf(field);
    const read = fieldReader(field);
    const takesNull = field.fieldKind === "message" && isValue(field.message);
    const { name } = field;
    const isMap = field.fieldKind === "map";
    const keyReader = { name, read, isLegacy, takesNull, isMap };
    for (const key of requestKeysOf(field)) keys.set(key, keyReader);
  }
  return reader;
}

/** Returns what adds to the emptied lists of a message; undefined if it has no such field. */
function emptiedNoter(
  message: DescMessage,
): ((result: Message, names: readonly string[]) => void) | undefined {
  const field = emptiedListsOf(message);
  if (!field) return undefined;
  return (result, names) => {
    const given = (result as unknown as Record<string, string[]>)[field.localName] ?? [];
    const others = names.filter((name) => name !== field.name);
    setProperty(result, field.localName, [...given, ...others]);
  };
}

function isEmptied({ isMap }: KeyReader, value: unknown): boolean {
  if (isMap) return isJsonObject(value) && isEmpty(value);
  return Array.isArray(value) && value.length === 0;
}

/** Returns the reader of one field, for messages, path variables and bodies of one field. */
export function fieldReader(field: DescField): FieldReader {
  const read = valueReader(field);
  const name = field.localName;
  const oneof = field.oneof?.localName;
  if (oneof !== undefined) {
    return (message, value, context) => {
      setProperty(message, oneof, { case: name, value: read(value, context) });
    };
  }
  return (message, value, context) => setProperty(message, name, read(value, context));
}

function valueReader(field: DescField): ValueReader {
  switch (field.fieldKind) {
    case "scalar":
      return scalarReader(field.scalar, treatmentOf(field).isUnixMs);
    case "enum":
      return enumReader(field);
    case "message":
      return subMessageReader(field.message);
    case "map":
      return mapReader(field);
    case "list": {
      const read = itemReader(field);
      return treatmentOf(field).hasLenientItems && field.listKind === "message"
        ? lenientListReader(field.name, field.message, read)
        : listReader(read);
    }
  }
}

function itemReader(field: DescField & { fieldKind: "list" }): ValueReader {
  switch (field.listKind) {
    case "scalar":
      return scalarReader(field.scalar, treatmentOf(field).isUnixMs);
    case "enum":
      return enumReader(field);
    case "message":
      return subMessageReader(field.message);
  }
}

function subMessageReader(message: DescMessage): ValueReader {
  if (isStruct(message)) {
    return (value) => {
      if (!isJsonObject(value)) throw new FieldFault("must be an object");
      checkFreeForm(value);
      return value;
    };
  }
  if (isTimestamp(message)) {
    return (value) => timestampFromMs(Math.floor(parseTime(value)));
  }
  if (isWellKnown(message)) {
    return (value, { loose }) => {
      checkFreeForm(value);
      countLoose(value, loose);
      try {
        return fromJson(message, value as JsonValue, { recursionLimit: messageDepthMax });
      } catch (error) {
        const kind = message.name === "ListValue" ? "an array" : "a JSON value";
        throw new FieldFault(`must be ${kind}`, { cause: error });
      }
    };
  }
  // Looked up on first use, since a message may be compiled inside itself.
  let reader: MessageReader | undefined;
  return (value, context) => (reader ??= messageReader(message))(value, context);
}

function enumReader(field: DescField & { enum: NonNullable<DescField["enum"]> }): ValueReader {
  const numbers = new Map<unknown, number>();
  for (const value of field.enum.values) numbers.set(value.name, value.number);
  const names = field.enum.values.map(({ name }) => name);
  return (value) => {
    const number = numbers.get(value);
    if (number === undefined) throw new FieldFault(faultOfChoice(names, value));
    return number;
  };
}

function listReader(read: ValueReader): ValueReader {
  return (value, context) => {
    const items = itemsOf(value);
    const result = new Array<unknown>(items.length);
    for (let index = 0; index < items.length; index += 1) {
      try {
        result[index] = read(items[index], context);
      } catch (error) {
        throw atIndex(error, index);
      }
    }
    return result;
  };
}

/**
 * Returns the reader of a lenient list, which leaves its items to `readItems`. An item with an
 * error becomes an empty message, and its error goes to the context.
 */
function lenientListReader(field: string, message: DescMessage, read: ValueReader): ValueReader {
  return (value, context) => {
    const items = itemsOf(value);
    const result = new Array<unknown>(items.length);
    const readItem = (index: number): void => {
      try {
        result[index] = read(items[index], context);
      } catch (error) {
        if (!(error instanceof FieldFault)) throw error;
        context.itemFaults.push({ field, index, message: error.text });
        context.made.bytes += faultBytes;
        result[index] = create(message);
      }
    };
    context.lists.push({ length: items.length, readItem });
    return result;
  };
}

/**
 * Reads the items of lenient lists, and lets other requests run in between. Reserves the memory of
 * the message as it grows; throws BODY_TOO_LARGE or OVERLOADED if there is none.
 */
export async function readItems(
  lists: readonly ItemList[],
  made: ReadContext["made"],
  memory: Reservation,
): Promise<void> {
  const pacer = createPacer(memory.holder);
  const gathered = gatherMemory(memory);
  gathered.add(made.bytes);
  for (const { length, readItem } of lists) {
    for (let index = 0; index < length; index += 1) {
      const before = made.bytes;
      readItem(index);
      gathered.add(made.bytes - before);
      if (pacer.due()) await pacer.rest();
    }
  }
  gathered.end();
}

function itemsOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new FieldFault("must be an array");
  if (value.length > listItemsMax) throw new FieldFault(`must have at most ${listItemsMax} items`);
  return value;
}

function mapReader(field: DescField & { fieldKind: "map" }): ValueReader {
  const read: ValueReader =
    field.mapKind === "scalar"
      ? scalarReader(field.scalar, false)
      : field.mapKind === "enum"
        ? enumReader(field)
        : subMessageReader(field.message);
  return (value, context) => {
    if (!isJsonObject(value)) throw new FieldFault("must be an object");
    const result: Record<string, unknown> = {};
    for (const key in value) {
      try {
        // Defined, not assigned, since the key `__proto__` is ordinary data.
        Object.defineProperty(result, key, {
          value: read(value[key], context),
          enumerable: true,
          configurable: true,
          writable: true,
        });
      } catch (error) {
        throw withinField(error, key);
      }
    }
    return result;
  };
}

/** Sets a property of a message: a plain record whose names only the descriptor knows. */
function setProperty(message: Message, name: string, value: unknown): void {
  (message as unknown as Record<string, unknown>)[name] = value;
}
