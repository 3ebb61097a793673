// JSON objects as protobuf-es types them.

import type { JsonObject as Struct } from "@bufbuild/protobuf";
import type { JsonObject } from "./json.ts";

/** Returns the same object under the type of a Struct field, which is mutable. */
export function toStruct(object: JsonObject): Struct {
  return object as Struct;
}
