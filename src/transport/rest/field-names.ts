// Names and JSON treatment of message fields, from their proto options.
// Source: proto/waggle/v1/options.proto.

import { type DescField, type DescMessage, getOption, hasOption } from "@bufbuild/protobuf";
import {
  answer_only,
  legacy,
  lenient_items,
  names_emptied_lists,
  nullable,
  numeric_without_nulls,
  omit_empty,
  projection,
  strict_keys,
  unix_ms,
} from "../../../gen/waggle/v1/options_pb.js";

/** Full name of the message that protobuf-es holds as a plain JSON object. */
const structName = "google.protobuf.Struct";

/**
 * Returns the key of a field in answers, which requests accept too: the proto name, unless the
 * proto sets another `json_name` (`$gte`).
 */
export function jsonKeyOf(field: DescField): string {
  return field.jsonName === toLowerCamel(field.name) ? field.name : field.jsonName;
}

/** Returns every key that requests may use for a field. */
export function requestKeysOf(field: DescField): readonly string[] {
  return [...new Set([field.name, field.jsonName])];
}

/** Options of a field; an absent option is false. */
export type FieldTreatment = {
  readonly isUnixMs: boolean;
  readonly isNullable: boolean;
  readonly isOmittedEmpty: boolean;
  readonly isNumericWithoutNulls: boolean;
  readonly isLegacy: boolean;
  readonly hasLenientItems: boolean;
};

export function treatmentOf(field: DescField): FieldTreatment {
  return {
    isUnixMs: isOn(field, unix_ms),
    isNullable: isOn(field, nullable),
    isOmittedEmpty: isOn(field, omit_empty),
    isNumericWithoutNulls: isOn(field, numeric_without_nulls),
    isLegacy: isOn(field, legacy),
    hasLenientItems: isOn(field, lenient_items),
  };
}

/** Returns whether an unknown key of a message is an error on every path. */
export function hasStrictKeys(message: DescMessage): boolean {
  return hasOption(message, strict_keys) && getOption(message, strict_keys);
}

/** Returns whether protobuf-es holds the message as a plain JSON object. */
export function isStruct(message: DescMessage): boolean {
  return message.typeName === structName;
}

/** Returns whether a field exists only in answers; in requests it is an unknown key. */
export function isAnswerOnly(field: DescField): boolean {
  return isOn(field, answer_only);
}

/** Returns the field of a request that lists the fields of the answer; undefined if it has none. */
export function projectionOf(message: DescMessage): DescField | undefined {
  return message.fields.find((field) => isOn(field, projection));
}

/** Returns the field of a message that names its emptied lists; undefined if it has none. */
export function emptiedListsOf(message: DescMessage): DescField | undefined {
  return message.fields.find((field) => isOn(field, names_emptied_lists));
}

/** Returns whether the message stands for any JSON value, including null. */
export function isValue(message: DescMessage): boolean {
  return message.typeName === "google.protobuf.Value";
}

/** Returns whether a message is a point in time. */
export function isTimestamp(message: DescMessage): boolean {
  return message.typeName === "google.protobuf.Timestamp";
}

/** Returns whether the message has a special JSON form, which protobuf-es reads and writes. */
export function isWellKnown(message: DescMessage): boolean {
  return message.typeName.startsWith("google.protobuf.") && !isStruct(message);
}

function isOn(field: DescField, option: typeof unix_ms): boolean {
  return hasOption(field, option) && getOption(field, option);
}

/** Returns the JSON name that protoc gives a field by default. */
function toLowerCamel(name: string): string {
  return name.replace(/_+([a-z0-9])?/g, (_, letter: string | undefined) =>
    (letter ?? "").toUpperCase(),
  );
}
