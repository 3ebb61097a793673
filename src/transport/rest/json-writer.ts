// Converts messages to plain JSON values, with closures compiled once per message from the
// descriptor. Source: proto/waggle/v1/options.proto; docs/decisions.md, 3, 10, 15.1.

import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type Message,
  ScalarType,
  toJson,
} from "@bufbuild/protobuf";
import type { Value } from "@bufbuild/protobuf/wkt";
import { base64Encode } from "@bufbuild/protobuf/wire";
import type { Steps } from "../../base/paced.ts";
import { formatTimeNumber, formatTimeText } from "./answer-times.ts";
import { isStruct, isWellKnown, jsonKeyOf, treatmentOf } from "./field-names.ts";

export type WriteContext = {
  /** Whether times are `YYYY-MM-DD HH:MM:SS` text instead of milliseconds. */
  readonly isTextTimes: boolean;
  /** Whether absent nullable fields are left out. */
  readonly isNullFree: boolean;
  /** Whether `(numeric_without_nulls)` values other than numbers and booleans count as absent. */
  readonly isNumericOnly?: boolean;
  /**
   * Top-level names of the requested fields of records; undefined means all. Nested messages omit
   * their absent and empty fields unless those are requested.
   */
  readonly projections: ReadonlySet<string> | undefined;
  /** JSON of long lists of the message that is already written. */
  readonly written?: ReadonlyMap<unknown, readonly unknown[]>;
};

export type MessageWriter = (message: Message, context: WriteContext, isNested?: boolean) => Json;

type Json = Record<string, unknown>;
type ValueWriter = (value: unknown, context: WriteContext) => unknown;
type FieldWriter = (record: Json, json: Json, context: WriteContext, isNested: boolean) => void;

const compiled = new Map<DescMessage, MessageWriter>();

/**
 * Returns the writer of a message, which uses proto names. Scalars without presence and lists are
 * always written, absent optional fields omitted, absent `(nullable)` ones null, and empty
 * `(omit_empty)` ones omitted.
 */
export function messageWriter(message: DescMessage): MessageWriter {
  const known = compiled.get(message);
  if (known) return known;
  const fields: FieldWriter[] = [];
  const writer: MessageWriter = (value, context, isNested = false) => {
    const json: Json = {};
    for (const write of fields) {
      write(value, json, context, isNested);
    }
    return json;
  };
  // Set before the fields are compiled, since a message may contain itself.
  compiled.set(message, writer);
  for (const field of message.fields) fields.push(fieldWriter(field));
  return writer;
}

/** Items of a list between two steps. */
const itemsOfStep = 128;

/** Same as the writer of a message, in steps where a list of the message is long. */
export function* writeInSteps(
  desc: DescMessage,
  message: Message,
  context: WriteContext,
): Steps<Json> {
  const record = message as unknown as Readonly<Record<string, unknown>>;
  const written = new Map<unknown, readonly unknown[]>();
  for (const field of desc.fields) {
    const list = record[field.localName];
    if (field.fieldKind !== "list" || !Array.isArray(list) || list.length <= itemsOfStep) continue;
    const write = elementWriter(field);
    const items: unknown[] = [];
    for (const item of list as unknown[]) {
      if (items.push(write(item, context)) % itemsOfStep === 0) yield;
    }
    written.set(list, items);
  }
  return messageWriter(desc)(message, { ...context, written });
}

function fieldWriter(field: DescField): FieldWriter {
  const write = valueWriter(field);
  const key = jsonKeyOf(field);
  const name = field.localName;
  const oneof = field.oneof?.localName;
  if (oneof !== undefined) {
    return (record, json, context) => {
      const member = record[oneof] as { case?: string; value?: unknown };
      if (member.case === name) json[key] = write(member.value, context);
    };
  }
  const { isNullable, isOmittedEmpty, isNumericWithoutNulls } = treatmentOf(field);
  const isList = field.fieldKind === "list";
  const isMessage = field.fieldKind === "message" && !isStruct(field.message);
  return (record, json, context, isNested) => {
    const given = record[name];
    const isRefused = isNumericWithoutNulls && context.isNumericOnly && !isNumeric(given);
    const value = isRefused ? undefined : given;
    if (value === undefined) {
      if (!isNullable || context.isNullFree) return;
      if (isNested && context.projections && !context.projections.has(key)) return;
      json[key] = null;
      return;
    }
    if (isOmittedEmpty && isEmpty(value)) return;
    if (
      isList &&
      isNested &&
      context.projections &&
      isEmpty(value) &&
      !context.projections.has(key)
    ) {
      return;
    }
    // Projections name fields of records; a message inside a record is written whole.
    const isInside = isMessage && isNested && context.projections !== undefined;
    json[key] = write(value, isInside ? { ...context, projections: undefined } : context);
  };
}

/** Returns whether a message of google.protobuf.Value holds a number or a boolean. */
function isNumeric(value: unknown): boolean {
  const kind = (value as Value | undefined)?.kind.case;
  return kind === "numberValue" || kind === "boolValue";
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === "" || value === 0 || value === 0n || value === false;
}

function valueWriter(field: DescField): ValueWriter {
  switch (field.fieldKind) {
    case "scalar":
      return scalarWriter(field.scalar, treatmentOf(field).isUnixMs);
    case "enum":
      return enumWriter(field.enum);
    case "message":
      return subMessageWriter(field.message);
    case "list": {
      const write = elementWriter(field);
      return (value, context) =>
        context.written?.get(value) ??
        (value as readonly unknown[]).map((item) => write(item, context));
    }
    case "map": {
      const write = elementWriter(field);
      return (value, context) =>
        Object.fromEntries(
          Object.entries(value as Json).map(([key, item]) => [key, write(item, context)]),
        );
    }
  }
}

function elementWriter(field: DescField & { fieldKind: "list" | "map" }): ValueWriter {
  if (field.message) return subMessageWriter(field.message);
  if (field.enum) return enumWriter(field.enum);
  return scalarWriter(field.scalar, treatmentOf(field).isUnixMs);
}

function subMessageWriter(message: DescMessage): ValueWriter {
  if (isStruct(message)) return (value) => value;
  if (isWellKnown(message)) return (value) => toJson(message, value as Message);
  // Looked up on first use, since a message may be compiled inside itself.
  let writer: MessageWriter | undefined;
  return (value, context) => (writer ??= messageWriter(message))(value as Message, context, true);
}

function scalarWriter(type: ScalarType, isUnixMs: boolean): ValueWriter {
  if (isUnixMs) {
    return (value, context) =>
      context.isTextTimes ? formatTimeText(value as number) : formatTimeNumber(value as number);
  }
  if (type === ScalarType.BYTES) return (value) => base64Encode(value as Uint8Array);
  // JSON has no 64-bit integers; text keeps every digit.
  return (value) => (typeof value === "bigint" ? value.toString() : value);
}

function enumWriter(desc: DescEnum): ValueWriter {
  return (value) => desc.value[value as number]?.name ?? value;
}
