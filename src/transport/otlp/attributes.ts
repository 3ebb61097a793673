// Converts OTLP attribute values to JSON values. Source: OpenTelemetry protocol, common.proto;
// docs/decisions.md, 37.1.

import type { AnyValue, KeyValue } from "../../../gen/opentelemetry/proto/common/v1/common_pb.js";
import { type JsonValue, setOwn, type MutableObject } from "../../base/json.ts";
import { eventValuesMax } from "../../base/limits.ts";
import type { Attributes } from "../../tracing/spans/span.ts";
import { valueDepthMax } from "../../tracing/spans/values.ts";

/** Error for an attribute that cannot be stored; the message names its key and the cause. */
export class AttributeError extends Error {}

/** Number of values that may still be read for one span. */
export type ValueCount = { left: number };

/** Returns the count for a span: the maximum number of values in an event. */
export function createValueCount(): ValueCount {
  return { left: eventValuesMax };
}

/**
 * Returns attributes by key; if a key occurs twice, the last one counts. Numbers without an exact
 * JSON form (NaN, infinities, integers over 2^53) become text, bytes become base64, and an empty
 * value is null. Throws AttributeError if a value nests too deep or if there are more than `count`
 * values, containers included.
 */
export function readAttributes(pairs: readonly KeyValue[], count: ValueCount): Attributes {
  const attributes = new Map<string, JsonValue>();
  for (const { key, value } of pairs) {
    if (value === undefined) attributes.set(key, null);
    else attributes.set(key, readValue(value, key, 0, count));
  }
  return attributes;
}

function readValue(any: AnyValue, key: string, depth: number, count: ValueCount): JsonValue {
  const { value } = any;
  count.left -= 1;
  if (count.left < 0) throw fault(key, `is past ${eventValuesMax} values of the span`);
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
      if (depth >= valueDepthMax) throw fault(key, "nests too deep");
      return value.value.values.map((item) => readValue(item, key, depth + 1, count));
    case "kvlistValue":
      if (depth >= valueDepthMax) throw fault(key, "nests too deep");
      return readList(value.value.values, key, depth + 1, count);
    default:
      return null;
  }
}

function readList(
  pairs: readonly KeyValue[],
  key: string,
  depth: number,
  count: ValueCount,
): JsonValue {
  const object: MutableObject = {};
  for (const pair of pairs) {
    const value = pair.value === undefined ? null : readValue(pair.value, key, depth, count);
    setOwn(object, pair.key, value);
  }
  return object;
}

function readInteger(value: bigint): JsonValue {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

function fault(key: string, cause: string): AttributeError {
  const shown = key.length > 80 ? `${key.slice(0, 80)}…` : key;
  return new AttributeError(`attribute ${JSON.stringify(shown)} ${cause}`);
}

/**
 * Returns how many of `length` bytes are left after the attributes are written as JSON, estimated
 * from their lengths. Stops early with a number below 0 if they take more.
 */
export function takeLength(pairs: readonly KeyValue[], length: number): number {
  const count: LengthCount = { left: length };
  takePairs(pairs, count);
  return count.left;
}

type LengthCount = { left: number };

/** Bytes of a number, a boolean or null, and of the punctuation around any value. */
const scalarLength = 8;
const marksLength = 4;

// Returns false once more than the bytes left are used.
function takePairs(pairs: readonly KeyValue[], count: LengthCount): boolean {
  return pairs.every(({ key, value }) => {
    count.left -= key.length + marksLength;
    return count.left >= 0 && (value === undefined || takeValue(value, count));
  });
}

function takeValue({ value }: AnyValue, count: LengthCount): boolean {
  switch (value.case) {
    case "stringValue":
      count.left -= value.value.length + marksLength;
      break;
    case "bytesValue":
      count.left -= (value.value.length * 4) / 3 + marksLength;
      break;
    case "arrayValue":
      count.left -= marksLength;
      return count.left >= 0 && value.value.values.every((item) => takeValue(item, count));
    case "kvlistValue":
      count.left -= marksLength;
      return count.left >= 0 && takePairs(value.value.values, count);
    default:
      count.left -= scalarLength;
  }
  return count.left >= 0;
}
