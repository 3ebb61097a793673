// Converts filters to messages and back.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Value } from "@bufbuild/protobuf/wkt";
import type { Filter, FilterSchema } from "../../../gen/waggle/v1/filter_pb.js";
import type { FilterInput } from "./filter.ts";
import { toValueMessage } from "../../base/value-message.ts";

export function toFilterMessage(filter: FilterInput): MessageInitShape<typeof FilterSchema> {
  const { field, operator, value, type } = filter;
  return {
    field,
    operator,
    ...(value !== undefined && { value: toValueMessage(value) }),
    ...(type !== undefined && { type }),
  };
}

/** Converts a filter message. */
export function toFilterInput({ field, operator, value, type }: Filter): FilterInput {
  return { field, operator, value: value && toScalar(value), type };
}

/**
 * Returns the value of a message that stands for a scalar; undefined if it has none. Returns [] for
 * lists and objects, because parsers refuse both; they also refuse numbers that are not finite.
 */
export function toScalar({ kind }: Value): FilterInput["value"] {
  switch (kind.case) {
    case "nullValue":
      return null;
    case "listValue":
    case "structValue":
      return [];
    default:
      return kind.value;
  }
}
