// How message fields are named and treated in JSON, read from their proto options. Shared by the
// JSON reader, the JSON writer, the query reader and openapi.ts.
// Source: proto/waggle/v1/options.proto.

import { type DescField, type DescMessage, getOption, hasOption } from "@bufbuild/protobuf";
import {
  legacy,
  lenient_items,
  nullable,
  omit_empty,
  unix_ms,
} from "../../../gen/waggle/v1/options_pb.js";

/** Full name of the message that protobuf-es holds as a plain JSON object. */
const structName = "google.protobuf.Struct";

/**
 * Returns the key that answers carry and requests may: the proto name, unless the proto gives a
 * `json_name` of its own (`$gte`).
 */
export function jsonKeyOf(field: DescField): string {
  return field.jsonName === toLowerCamel(field.name) ? field.name : field.jsonName;
}

/** Returns every key that requests may carry for a field. */
export function requestKeysOf(field: DescField): readonly string[] {
  return [...new Set([field.name, field.jsonName])];
}

/** What the field options say, with every absent one false. */
export type FieldTreatment = {
  readonly isUnixMs: boolean;
  readonly isNullable: boolean;
  readonly isOmittedEmpty: boolean;
  readonly isLegacy: boolean;
  readonly hasLenientItems: boolean;
};

export function treatmentOf(field: DescField): FieldTreatment {
  return {
    isUnixMs: isOn(field, unix_ms),
    isNullable: isOn(field, nullable),
    isOmittedEmpty: isOn(field, omit_empty),
    isLegacy: isOn(field, legacy),
    hasLenientItems: isOn(field, lenient_items),
  };
}

/** Tells whether protobuf-es holds the message as a plain JSON object. */
export function isStruct(message: DescMessage): boolean {
  return message.typeName === structName;
}

/** Tells whether a field is for answers alone: to requests it is an unknown key. */
export function isAnswerOnly(field: DescField): boolean {
  return field.message?.typeName === "waggle.v1.CostEstimate";
}

/** Tells whether the message stands for any JSON value, null among them. */
export function isValue(message: DescMessage): boolean {
  return message.typeName === "google.protobuf.Value";
}

/** Tells whether a message is a point in time. */
export function isTimestamp(message: DescMessage): boolean {
  return message.typeName === "google.protobuf.Timestamp";
}

/** Tells whether the message has a JSON form of its own, which protobuf-es reads and writes. */
export function isWellKnown(message: DescMessage): boolean {
  return message.typeName.startsWith("google.protobuf.") && !isStruct(message);
}

function isOn(field: DescField, option: typeof unix_ms): boolean {
  return hasOption(field, option) && getOption(field, option);
}

/** The name that protoc gives a field in JSON when the proto says nothing. */
function toLowerCamel(name: string): string {
  return name.replace(/_+([a-z0-9])?/g, (_, letter: string | undefined) =>
    (letter ?? "").toUpperCase(),
  );
}
