// Encodes messages in either codec from their descriptors: repeated fields, objects and lists of
// any value. Nothing is checked, since attacks send invalid values too.

import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { join, jsonList, lengthField, numberField, repeat, varint } from "../bytes.ts";
import type { Codec } from "../protocols.ts";
import { nestGroups, nestMessages } from "./bulk.ts";

export type Form = {
  readonly codec: Codec;
  /** Returns a message of members; empty members are left out. */
  message(members: readonly Buffer[]): Buffer;
  /** Returns `count` copies of a member. */
  members(member: Buffer, count: number): Buffer;
  /** Returns a field with `count` copies of a value: as items of a list, or as a repeated field. */
  field(field: DescField, value: Buffer, count: number): Buffer;
  /** Returns a text as a value; special characters in `text` are already escaped. */
  text(text: Uint8Array): Buffer;
  /** Returns a small number as a value of the field. */
  number(field: DescField, value: number): Buffer;
  /** Returns about `bytes` bytes of fields that no message has. */
  unknown(bytes: number, variant: number): Buffer;
  readonly free: FreeForm;
};

/** Encoder of values of any kind, as in google.protobuf.Value. */
export type FreeForm = {
  /** Returns a small value of one of a few kinds. */
  small(variant: number): Buffer;
  text(text: Uint8Array): Buffer;
  /** Returns a number of `count` digits. */
  digits(count: number): Buffer;
  list(item: Buffer, count: number): Buffer;
  /** Returns an object with `count` members of the same key. */
  object(key: Uint8Array, value: Buffer, count: number): Buffer;
  /** Returns nested lists or objects. */
  nest(bytes: number, variant: number): Buffer;
  /** Returns a value as one of the message: Struct, ListValue or Value. */
  into(message: DescMessage, value: Buffer): Buffer;
};

const comma = Buffer.from(",");

const jsonSmall = ["null", "0", '""', "{}", "[]", "true", "1e-300", '{"a":1}', '"a"', "-0"];

const jsonFree: FreeForm = {
  small: (variant) => Buffer.from(jsonSmall[variant % jsonSmall.length] ?? ""),
  text: (text) => join('"', text, '"'),
  digits: (count) => repeat("7", Math.max(1, count)),
  list: jsonList,
  object: (key, value, count) =>
    join("{", json.members(join('"', key, '":', value), Math.max(1, count)), "}"),
  nest(bytes, variant) {
    const [open, close] = variant % 2 === 0 ? ["[", "]"] : ['{"a":', "}"];
    const depth = Math.floor(bytes / (open.length + close.length));
    return join(repeat(open, depth), "0", repeat(close, depth));
  },
  into({ name }, value) {
    if (name === "Value" || (name === "Struct" && value[0] === 0x7b)) return value;
    return name === "Struct" ? join('{"a":', value, "}") : join("[", value, "]");
  },
};

const jsonUnknown = ['"u":{}', '"u":0', '"u":[]', '"u00000000":0', '"u00000000":{}', '"":""'];

const json: Form = {
  codec: "json",
  message: (members) =>
    join("{", ...members.filter(({ length }) => length > 0).flatMap(withComma), "}"),
  members: (member, count) => {
    if (member.length === 0 || count === 0) return Buffer.alloc(0);
    return join(repeat(join(member, ","), count - 1), member);
  },
  field({ fieldKind, jsonName }, value, count) {
    const name = JSON.stringify(jsonName) + ":";
    if (fieldKind === "list") return join(name, jsonList(value, count));
    if (fieldKind === "map") return join(name, "{", json.members(join('"a":', value), count), "}");
    return json.members(join(name, value), count);
  },
  text: (text) => join('"', text, '"'),
  number: (field, value) =>
    Buffer.from(
      field.enum
        ? JSON.stringify(field.enum.values[value % field.enum.values.length]?.name)
        : isTruth(field)
          ? "true"
          : String(value),
    ),
  unknown(bytes, variant) {
    const unit = jsonUnknown[variant % jsonUnknown.length] ?? "";
    return json.members(Buffer.from(unit), Math.max(1, Math.floor(bytes / (unit.length + 1))));
  },
  free: jsonFree,
};

function withComma(member: Buffer, index: number): readonly Buffer[] {
  return index === 0 ? [member] : [comma, member];
}

const isTruth = (field: DescField): boolean => field.scalar === ScalarType.BOOL;

const protoSmall = [
  numberField(1, 0),
  join(varint(2 * 8 + 1), Buffer.alloc(8)),
  lengthField(3, ""),
  lengthField(5, ""),
  lengthField(6, ""),
  numberField(4, 1),
  Buffer.alloc(0),
  lengthField(5, lengthField(1, lengthField(1, "a"))),
  lengthField(3, "a"),
  join(numberField(1, 0), numberField(4, 1)),
];

const protoFree: FreeForm = {
  small: (variant) => protoSmall[variant % protoSmall.length] ?? Buffer.alloc(0),
  text: (text) => lengthField(3, text),
  // A number has eight bytes, so many digits become many copies of a number.
  digits: (count) => repeat(join(varint(2 * 8 + 1), Buffer.alloc(8, 0x3f)), Math.ceil(count / 9)),
  list: (item, count) => lengthField(6, repeat(lengthField(1, item), count)),
  object: (key, value, count) =>
    lengthField(5, repeat(lengthField(1, join(lengthField(1, key), lengthField(2, value))), count)),
  nest: (bytes, variant) =>
    nestMessages(variant % 2 === 0 ? [6, 1] : [5, 1, 2], Buffer.alloc(0), bytes),
  into({ name }, value) {
    if (name === "Value") return value;
    if (name === "ListValue") return lengthField(1, value);
    // Removes the tag and length of the Struct in a Value.
    if (value[0] === 5 * 8 + 2)
      return value.subarray(1 + value.findIndex((byte, at) => at > 0 && byte < 0x80));
    return lengthField(1, join(lengthField(1, "a"), lengthField(2, value)));
  },
};

/** Fields with numbers that no message here has; the last number is the largest possible. */
const unknownFields = [
  numberField(600, 0),
  join(varint(601 * 8 + 1), Buffer.alloc(8)),
  lengthField(602, ""),
  join(varint(603 * 8 + 5), Buffer.alloc(4)),
  nestGroups(15, 2),
  numberField(536_870_911, 0),
];

const proto: Form = {
  codec: "proto",
  message: join0,
  members: repeat,
  field(field, value, count) {
    const { fieldKind, number } = field;
    if (fieldKind === "map") {
      return repeat(lengthField(number, join(lengthField(1, "a"), lengthField(2, value))), count);
    }
    const type = wireTypeOf(field);
    const one = type === 2 ? lengthField(number, value) : join(varint(number * 8 + type), value);
    return repeat(one, count);
  },
  text: (text) => Buffer.from(text),
  number(field, value) {
    const type = wireTypeOf(field);
    if (type === 0) return varint(value);
    const bytes = Buffer.alloc(type === 1 ? 8 : 4);
    if (field.scalar === ScalarType.DOUBLE) bytes.writeDoubleLE(value);
    return bytes;
  },
  unknown(bytes, variant) {
    const unit = unknownFields[variant % unknownFields.length] ?? Buffer.alloc(0);
    return repeat(unit, Math.max(1, Math.floor(bytes / unit.length)));
  },
  free: protoFree,
};

function join0(members: readonly Buffer[]): Buffer {
  return join(...members);
}

const fixed64 = new Set([ScalarType.DOUBLE, ScalarType.FIXED64, ScalarType.SFIXED64]);
const fixed32 = new Set([ScalarType.FLOAT, ScalarType.FIXED32, ScalarType.SFIXED32]);

/** Returns the wire type of a field, which says how its value ends. */
export function wireTypeOf({ scalar, enum: values }: DescField): 0 | 1 | 2 | 5 {
  if (values) return 0;
  if (scalar === undefined || scalar === ScalarType.STRING || scalar === ScalarType.BYTES) return 2;
  if (fixed64.has(scalar)) return 1;
  return fixed32.has(scalar) ? 5 : 0;
}

export const forms: Readonly<Record<Codec, Form>> = { json, proto };
