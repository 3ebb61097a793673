// Encodes a large message of an RPC answer in pieces, before Connect encodes it at once: large
// parts become fields that already are bytes, which Connect copies. Source: docs/limits.md.

import {
  create,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { StructSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { createPacer, type Pacer } from "../../base/pacer.ts";
import { isLarge } from "./large.ts";

/**
 * Returns a message with the same encoding that Connect encodes in well under 100 ms. `holder` is
 * the holder of the call's memory, whose calls share their turns.
 */
export async function toPieces(
  desc: DescMessage,
  message: Message,
  holder?: string,
): Promise<Message> {
  return divide(desc, message, createPacer(holder));
}

type Fields = Record<string, unknown>;
type UnknownField = NonNullable<Message["$unknown"]>[number];

async function divide(desc: DescMessage, message: Message, pacer: Pacer): Promise<Message> {
  const pieces: UnknownField[] = [];
  const rest: Fields = { ...message };
  for (const field of desc.fields) {
    const value = valueOf(rest, field);
    if (!isDivisible(field) || value === undefined || !isLarge(value)) continue;
    const items = field.fieldKind === "list" ? (value as readonly unknown[]) : [value];
    for (const item of items) {
      pieces.push(fieldOf(field.number, await encode(field.message, item, pacer)));
      if (pacer.due()) await pacer.rest();
    }
    if (field.oneof) rest[field.oneof.localName] = { case: undefined };
    else rest[field.localName] = field.fieldKind === "list" ? [] : undefined;
  }
  const small = create(desc, rest);
  small.$unknown = pieces;
  return small;
}

type MessageField = DescField & { readonly message: DescMessage };

function valueOf(fields: Fields, { localName, oneof }: DescField): unknown {
  if (!oneof) return fields[localName];
  const set = fields[oneof.localName] as { case?: string; value?: unknown };
  return set.case === localName ? set.value : undefined;
}

function isDivisible(field: DescField): field is MessageField {
  if (!field.message || field.fieldKind === "map") return false;
  return !field.message.typeName.startsWith("google.protobuf.") || isStruct(field.message);
}

function isStruct({ typeName }: DescMessage): boolean {
  return typeName === StructSchema.typeName;
}

async function encode(desc: DescMessage, value: unknown, pacer: Pacer): Promise<Uint8Array> {
  if (isStruct(desc)) return encodeStruct(value as JsonObject, pacer);
  const message = value as Message;
  return toBinary(desc, isLarge(message) ? await divide(desc, message, pacer) : message);
}

/**
 * Field numbers of `google.protobuf.Struct`, its entries, `Value` and `ListValue`. Field 1 holds
 * the entries of a Struct and the items of a list.
 */
const memberField = 1;
const entryKey = 1;
const entryValue = 2;
const structValue = 5;
const listValue = 6;

async function encodeStruct(object: JsonObject, pacer: Pacer): Promise<Uint8Array> {
  if (!isLarge(object)) return toBinary(StructSchema, fromJson(StructSchema, object));
  const writer = new BinaryWriter();
  for (const [key, value] of Object.entries(object)) {
    const entry = new BinaryWriter().tag(entryKey, WireType.LengthDelimited).string(key);
    entry.tag(entryValue, WireType.LengthDelimited).bytes(await encodeValue(value, pacer));
    writer.tag(memberField, WireType.LengthDelimited).bytes(entry.finish());
    if (pacer.due()) await pacer.rest();
  }
  return writer.finish();
}

async function encodeValue(value: JsonValue, pacer: Pacer): Promise<Uint8Array> {
  const isContainer = typeof value === "object" && value !== null;
  if (!isContainer || !isLarge(value)) return toBinary(ValueSchema, fromJson(ValueSchema, value));
  const writer = new BinaryWriter();
  if (Array.isArray(value)) {
    const list = new BinaryWriter();
    for (const item of value) {
      list.tag(memberField, WireType.LengthDelimited).bytes(await encodeValue(item, pacer));
      if (pacer.due()) await pacer.rest();
    }
    return writer.tag(listValue, WireType.LengthDelimited).bytes(list.finish()).finish();
  }
  const struct = await encodeStruct(value, pacer);
  return writer.tag(structValue, WireType.LengthDelimited).bytes(struct).finish();
}

function fieldOf(no: number, bytes: Uint8Array): UnknownField {
  const data = new BinaryWriter().bytes(bytes).finish();
  return { no, wireType: WireType.LengthDelimited, data };
}
