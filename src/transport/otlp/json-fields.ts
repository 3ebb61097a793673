// Reads single fields of OTLP JSON, as tolerant as its senders need: names in camelCase or
// snake_case, null for absent, integers as numbers or text, enums as numbers or names, ids as hex
// in either case. Source: OpenTelemetry protocol, "JSON Protobuf Encoding".

import type { GenEnum } from "@bufbuild/protobuf/codegenv2";
import type { AnyValue, KeyValue } from "../../../gen/opentelemetry/proto/common/v1/common_pb.js";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { listItemsMax, nestingDepthMax } from "../../base/limits.ts";

/** Error for a field of the wrong type or value; the message names the field. */
export class FieldError extends Error {}

/** Returns a field by either of its names; null counts as absent. */
export function pick(source: JsonObject, camel: string, snake: string): JsonValue | undefined {
  return source[camel] ?? source[snake] ?? undefined;
}

export function asObject(value: JsonValue, name: string): JsonObject {
  if (!isJsonObject(value)) throw new FieldError(`${name} must be an object`);
  return value;
}

export function readText(value: JsonValue | undefined, name: string): string {
  if (value === undefined) return "";
  if (typeof value !== "string") throw new FieldError(`${name} must be text`);
  return value;
}

export function readList(value: JsonValue | undefined, name: string): readonly JsonValue[] {
  if (value === undefined) return [];
  if (!isJsonArray(value)) throw new FieldError(`${name} must be an array`);
  if (value.length > listItemsMax) {
    throw new FieldError(`${name}: must have at most ${listItemsMax} items; send them in parts`);
  }
  return value;
}

const noBytes = new Uint8Array(0);
const hexDigits = /^(?:[0-9a-fA-F]{2})*$/;

/** Reads an id. Text that is not hex reads as empty, which the check of the span rejects. */
export function readBytes(value: JsonValue | undefined, name: string): Uint8Array {
  const text = readText(value, name);
  return text !== "" && hexDigits.test(text) ? Buffer.from(text, "hex") : noBytes;
}

/** Reads a name or number of an enum; an absent or unknown one reads as 0. */
export function readEnum<T extends number>(
  value: JsonValue | undefined,
  { values }: GenEnum<T>,
  label: string,
): T {
  if (value === undefined) return 0 as T;
  if (typeof value !== "string" && typeof value !== "number") {
    throw new FieldError(`${label} must be an enum's name or number`);
  }
  const text = String(value);
  const named = values.find(({ name, number }) => name === text || String(number) === text);
  return (named?.number ?? 0) as T;
}

const integer = /^-?\d{1,20}$/;

/** Reads an unsigned 64-bit integer, such as a time in nanoseconds. */
export function readUnsigned(value: JsonValue | undefined, name: string): bigint {
  if (value === undefined) return 0n;
  const read = toInteger(value);
  if (read === undefined || read < 0n || read >= 2n ** 64n) {
    throw new FieldError(`${name} must be an unsigned 64-bit integer`);
  }
  return read;
}

function toInteger(value: JsonValue): bigint | undefined {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : undefined;
  return typeof value === "string" && integer.test(value) ? BigInt(value) : undefined;
}

/** Reads the value of an attribute or of a log record's body; `key` names it in errors. */
export function readValue(source: JsonValue | undefined, key: string): AnyValue | undefined {
  return source === undefined ? undefined : readAnyValue(source, key, 0);
}

export function readKeyValues(value: JsonValue | undefined, depth = 0): KeyValue[] {
  return readList(value, "attributes").map((item) => {
    if (!isJsonObject(item)) throw new FieldError("attributes must hold objects of key and value");
    const key = readText(item["key"] ?? undefined, "attribute key");
    const any = item["value"] ?? undefined;
    return {
      $typeName: "opentelemetry.proto.common.v1.KeyValue",
      key,
      value: any === undefined ? undefined : readAnyValue(any, key, depth),
      keyStrindex: 0,
    };
  });
}

// Bound of the recursion. It exceeds the depth limit of a stored value, so that spans.ts can report
// which attribute is too deep.
const recursionMax = 2 * nestingDepthMax;

function readAnyValue(source: JsonValue, key: string, depth: number): AnyValue {
  if (!isJsonObject(source)) throw fault(key, "must be an object such as {stringValue}");
  if (depth > recursionMax) throw fault(key, "nests too deep");
  return {
    $typeName: "opentelemetry.proto.common.v1.AnyValue",
    value: readOneOf(source, key, depth),
  };
}

function readOneOf(source: JsonObject, key: string, depth: number): AnyValue["value"] {
  const text = pick(source, "stringValue", "string_value");
  if (text !== undefined) return { case: "stringValue", value: readText(text, labelOf(key)) };
  const int = pick(source, "intValue", "int_value");
  if (int !== undefined) return { case: "intValue", value: readInteger(int, key) };
  const bool = pick(source, "boolValue", "bool_value");
  if (bool !== undefined) {
    if (typeof bool !== "boolean") throw fault(key, "boolValue must be true or false");
    return { case: "boolValue", value: bool };
  }
  const double = pick(source, "doubleValue", "double_value");
  if (double !== undefined) return { case: "doubleValue", value: readDouble(double, key) };
  const array = pick(source, "arrayValue", "array_value");
  if (array !== undefined) {
    const items = readList(valuesOf(array, key), labelOf(key));
    return {
      case: "arrayValue",
      value: {
        $typeName: "opentelemetry.proto.common.v1.ArrayValue",
        // An array may hold empty values, written as null.
        values: items.map((item) => readAnyValue(item ?? {}, key, depth + 1)),
      },
    };
  }
  const list = pick(source, "kvlistValue", "kvlist_value");
  if (list !== undefined) {
    return {
      case: "kvlistValue",
      value: {
        $typeName: "opentelemetry.proto.common.v1.KeyValueList",
        values: readKeyValues(valuesOf(list, key), depth + 1),
      },
    };
  }
  const bytes = pick(source, "bytesValue", "bytes_value");
  if (bytes === undefined) return { case: undefined };
  return { case: "bytesValue", value: Buffer.from(readText(bytes, labelOf(key)), "base64") };
}

function valuesOf(value: JsonValue, key: string): JsonValue | undefined {
  if (!isJsonObject(value)) throw fault(key, "must be an object of values");
  return value["values"] ?? undefined;
}

function readInteger(value: JsonValue, key: string): bigint {
  const read = toInteger(value);
  if (read === undefined || BigInt.asIntN(64, read) !== read) {
    throw fault(key, "intValue must be a 64-bit integer");
  }
  return read;
}

const namedDoubles: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "-Infinity": Number.NEGATIVE_INFINITY,
};

function readDouble(value: JsonValue, key: string): number {
  if (typeof value === "number") return value;
  if (typeof value === "string" && value.trim() !== "") {
    const number = Object.hasOwn(namedDoubles, value) ? namedDoubles[value] : Number(value);
    if (number !== undefined && (Object.hasOwn(namedDoubles, value) || Number.isFinite(number))) {
      return number;
    }
  }
  throw fault(key, "doubleValue must be a number");
}

function fault(key: string, cause: string): FieldError {
  return new FieldError(`${labelOf(key)} ${cause}`);
}

function labelOf(key: string): string {
  return `attribute ${JSON.stringify(key.length > 80 ? `${key.slice(0, 80)}…` : key)}`;
}
