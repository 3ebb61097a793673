// Tags, lengths and values of the Protobuf wire format by position in the bytes, for the scan and
// the piecewise decoder. Source: Protobuf encoding specification.

import { ServiceError } from "../../base/errors.ts";

const varintType = 0;
const bit64Type = 1;
export const lengthType = 2;
const bit32Type = 5;

/** A position in the bytes; reading moves it. */
export type Cursor = { readonly bytes: Uint8Array; at: number };

/** Returns the next varint as an unsigned 32-bit number; higher bits are dropped. */
export function readVarint(cursor: Cursor): number {
  const { bytes } = cursor;
  let byte = bytes[cursor.at] ?? cut();
  cursor.at += 1;
  if (byte < 0x80) return byte;
  let value = byte & 0x7f;
  for (let shift = 7; shift < 70; shift += 7) {
    byte = bytes[cursor.at] ?? cut();
    cursor.at += 1;
    if (shift < 32) value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value >>> 0;
  }
  throw malformed("a number is longer than ten bytes");
}

/** Returns the next tag: field number and wire type, at most 32 bits. */
export function readTag(cursor: Cursor): number {
  const start = cursor.at;
  const tag = readVarint(cursor);
  const length = cursor.at - start;
  if (length > 5 || (length === 5 && (cursor.bytes[cursor.at - 1] ?? 0) > 0x0f)) {
    throw malformed("a field has a number above 2^29 - 1");
  }
  return tag;
}

/** Reads the length of a length-delimited value and returns the end of the value. */
export function readEnd(cursor: Cursor, limit: number): number {
  const length = readVarint(cursor);
  const end = cursor.at + length;
  if (end > limit) cut();
  return end;
}

/**
 * Moves to the end of a field's value; `limit` is the end of its message. Groups are refused: no
 * proto of this service has them, and the end of a large group is slow to find.
 */
export function skipValue(cursor: Cursor, tag: number, limit: number): void {
  if (tag < 8) throw malformed("a field has the number 0");
  switch (tag & 7) {
    case varintType:
      readVarint(cursor);
      break;
    case bit64Type:
      cursor.at += 8;
      break;
    case lengthType:
      cursor.at = readEnd(cursor, limit);
      break;
    case bit32Type:
      cursor.at += 4;
      break;
    default:
      throw malformed("a field has no known type");
  }
  if (cursor.at > limit) cut();
}

export function malformed(what: string, cause?: unknown): ServiceError {
  return new ServiceError("MALFORMED_BODY", `the body must be Protobuf of the method: ${what}`, {
    cause,
  });
}

function cut(): never {
  throw malformed("it ends in the middle of a field");
}
