// Reads JSON scalars by Protobuf type and checks free-form values.
// Source: docs/decisions.md, 2 and 4; docs/spec.md, Limits.

import { ScalarType } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { parseTimeMs } from "../../base/iso-time.ts";
import { nestingDepthMax } from "../../base/limits.ts";
import { atIndex, FieldFault, withinField } from "./field-fault.ts";

const integerPattern = /^[+-]?\d{1,20}$/;

/** Returns a function that converts a JSON value to a scalar or throws FieldFault. */
export function scalarReader(type: ScalarType, isUnixMs: boolean): (value: unknown) => unknown {
  switch (type) {
    case ScalarType.STRING:
      return readText;
    case ScalarType.BOOL:
      return readBoolean;
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return isUnixMs ? parseUnixMs : readNumber;
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return (value) => Number(readInteger(value, -(2n ** 31n), 2n ** 31n - 1n));
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return (value) => Number(readInteger(value, 0n, 2n ** 32n - 1n));
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return (value) => readInteger(value, -(2n ** 63n), 2n ** 63n - 1n);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return (value) => readInteger(value, 0n, 2n ** 64n - 1n);
    case ScalarType.BYTES:
      return readBytes;
  }
}

function readText(value: unknown): string {
  if (typeof value !== "string") throw new FieldFault("must be a string");
  return value;
}

function readBoolean(value: unknown): boolean {
  if (typeof value !== "boolean") throw new FieldFault("must be true or false");
  return value;
}

function readNumber(value: unknown): number {
  if (typeof value !== "number") throw new FieldFault("must be a number");
  if (!Number.isFinite(value)) throw new FieldFault("must be a finite number");
  return value;
}

function readInteger(value: unknown, min: bigint, max: bigint): bigint {
  const isInteger =
    typeof value === "number"
      ? Number.isInteger(value)
      : typeof value === "string" && integerPattern.test(value);
  if (!isInteger) throw new FieldFault("must be an integer");
  const integer = BigInt(value as number | string);
  if (integer < min || integer > max) throw new FieldFault(`must be from ${min} to ${max}`);
  return integer;
}

function readBytes(value: unknown): Uint8Array {
  if (typeof value !== "string") throw new FieldFault("must be base64 text");
  try {
    return base64Decode(value);
  } catch (error) {
    throw new FieldFault("must be base64 text", { cause: error });
  }
}

/**
 * Checks a free-form JSON value: at most nestingDepthMax levels and no infinite number, as which
 * JSON text such as 1e999 reads. Throws FieldFault with the path; the depth bounds the recursion.
 */
export function checkFreeForm(value: unknown, depthLeft: number = nestingDepthMax): void {
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new FieldFault("must be a finite number");
    return;
  }
  if (typeof value !== "object" || value === null) return;
  if (depthLeft === 0) throw new FieldFault(`nests deeper than ${nestingDepthMax} levels`);
  if (Array.isArray(value)) {
    let index = 0;
    try {
      for (; index < value.length; index += 1) checkFreeForm(value[index], depthLeft - 1);
    } catch (error) {
      throw atIndex(error, index);
    }
    return;
  }
  let key = "";
  try {
    for (key in value) checkFreeForm((value as Record<string, unknown>)[key], depthLeft - 1);
  } catch (error) {
    throw withinField(error, key);
  }
}

/**
 * Returns Unix milliseconds, like `parseTime`, or another finite number: the service says which
 * times the field takes, in the same words over every protocol.
 */
export function parseUnixMs(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : parseTime(value);
}

/** Returns Unix milliseconds. Throws FieldFault if the value is not a time. */
export function parseTime(value: unknown): number {
  const timeMs = parseTimeMs(value);
  if (timeMs !== undefined) return timeMs;
  throw new FieldFault("must be a number (Unix milliseconds) or ISO 8601 text");
}
