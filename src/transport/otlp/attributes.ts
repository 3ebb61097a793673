// OTLP attribute values to JSON values. Called by spans.ts.
// Source: OpenTelemetry protocol, common.proto; docs/decisions.md, 37.

import type { AnyValue, KeyValue } from "../../../gen/opentelemetry/proto/common/v1/common_pb.js";
import type { JsonValue } from "../../base/json.ts";
import type { Attributes } from "../../tracing/spans/span.ts";
import { setOwn, valueDepthMax, type MutableObject } from "../../tracing/spans/values.ts";

/** An attribute that cannot be stored; the message names its key and the cause. */
export class AttributeError extends Error {}

/**
 * Returns attributes by key; of a key that stands twice the last counts. Numbers that JSON cannot
 * say exactly, NaN, infinities and integers past 2^53, become their text; bytes become base64; an
 * empty value is null.
 */
export function readAttributes(pairs: readonly KeyValue[]): Attributes {
  const attributes = new Map<string, JsonValue>();
  for (const { key, value } of pairs) {
    if (value === undefined) attributes.set(key, null);
    else attributes.set(key, readValue(value, key, 0));
  }
  return attributes;
}

function readValue(any: AnyValue, key: string, depth: number): JsonValue {
  const { value } = any;
  switch (value.case) {
    case "stringValue":
    case "boolValue":
      return value.value;
    case "intValue":
      return readInteger(value.value);
    case "doubleValue":
      return Number.isFinite(value.value) ? value.value : String(value.value);
    case "bytesValue":
      return Buffer.from(value.value).toString("base64");
    case "arrayValue":
      checkDepth(key, depth + 1);
      return value.value.values.map((item) => readValue(item, key, depth + 1));
    case "kvlistValue":
      checkDepth(key, depth + 1);
      return readList(value.value.values, key, depth + 1);
    default:
      return null;
  }
}

function readList(pairs: readonly KeyValue[], key: string, depth: number): JsonValue {
  const object: MutableObject = {};
  for (const pair of pairs) {
    const value = pair.value === undefined ? null : readValue(pair.value, key, depth);
    setOwn(object, pair.key, value);
  }
  return object;
}

function readInteger(value: bigint): JsonValue {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

function checkDepth(key: string, depth: number): void {
  if (depth > valueDepthMax) {
    const shown = key.length > 80 ? `${key.slice(0, 80)}…` : key;
    throw new AttributeError(`attribute ${JSON.stringify(shown)} nests too deep`);
  }
}
