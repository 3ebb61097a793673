// JSON as the message that lists and single values of the API are.

import { fromJson, type JsonValue, type MessageShape, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";

export type Value = MessageShape<typeof ValueSchema>;

export function toValue(value: JsonValue): Value {
  return fromJson(ValueSchema, value);
}

/** Returns the JSON of a value; an absent one is null. */
export function fromValue(value: Value | undefined): JsonValue {
  return value === undefined || value.kind.case === undefined ? null : toJson(ValueSchema, value);
}
