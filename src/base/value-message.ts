// JSON values as messages of google.protobuf.Value.

import { fromJson } from "@bufbuild/protobuf";
import { NullValue, type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import type { JsonValue } from "./json.ts";

/**
 * Returns the message of a value. Scalars are made directly, which took a third of the time of
 * `fromJson`: the result of a run has ten thousands of them.
 */
export function toValueMessage(value: JsonValue): Value {
  switch (typeof value) {
    case "number":
      return valueOf({ case: "numberValue", value });
    case "string":
      return valueOf({ case: "stringValue", value });
    case "boolean":
      return valueOf({ case: "boolValue", value });
    default:
      if (value !== null) return fromJson(ValueSchema, value as Parameters<typeof fromJson>[1]);
      return valueOf({ case: "nullValue", value: NullValue.NULL_VALUE });
  }
}

/** Returns the object that `create` would make of it, in a fifth of the time. */
function valueOf(kind: Value["kind"]): Value {
  return { $typeName: ValueSchema.typeName, kind };
}
