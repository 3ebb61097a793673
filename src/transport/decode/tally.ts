// What a body holds, counted in its encoded bytes before anything is decoded: objects, single
// values, levels. Refused past the limits; else its memory is reserved as the decoded size.
// Source: docs/limits.md.

import type { Reservation } from "../../base/byte-budget.ts";
import { ServiceError } from "../../base/errors.ts";
import { containersMax, listItemsMax, messageDepthMax, valuesMax } from "../../base/limits.ts";

/** Counts of one body. */
export type Tally = {
  /** Objects and arrays of JSON; messages of Protobuf. */
  containers: number;
  /** Texts, numbers, booleans and nulls. */
  values: number;
  /** Bytes of memory that the decoded value takes, besides its texts. */
  memory: number;
};

/** Bytes that V8 takes for an object or array of JSON with its slots. */
export const containerBytes = 72;

/** Bytes for the header and the slot of a text or number, besides the text itself. */
export const valueBytes = 24;

/** Bytes that the fault of one item takes: its message, its cause, and its part of the answer. */
export const faultBytes = 800;

/** Throws MALFORMED_BODY, naming the limit, where a count is past it. */
export function checkTally({ containers, values }: Tally): void {
  if (containers > containersMax) {
    throw tooMany(`${containersMax} objects and arrays`);
  }
  if (values > valuesMax) throw tooMany(`${valuesMax} values`);
}

/** Returns the error of a list that is too long; the message names it. */
export function tooManyItems(name: string): ServiceError {
  const message = `${name}: must have at most ${listItemsMax} items; send them in parts`;
  return new ServiceError("INVALID_ARGUMENT", message);
}

/** Returns the error of an object that is too large. */
export function tooManyMembers(): ServiceError {
  const message = `the body has an object with more than ${listItemsMax} members`;
  return new ServiceError("MALFORMED_BODY", message);
}

/**
 * Counts the values of a free-form value that is no bucket. Throws MALFORMED_BODY where a request
 * has more of them than `listItemsMax`: protobuf-es holds each as a message.
 */
export function countLoose(value: unknown, loose: { count: number }, level = 0): void {
  loose.count += 1;
  if (loose.count > listItemsMax) throw tooManyLooseValues();
  // Readers refuse what is deeper, and the stack has room for some thousand levels only.
  if (typeof value !== "object" || value === null || level > messageDepthMax) return;
  for (const member of Object.values(value)) countLoose(member, loose, level + 1);
}

/** Returns the error of a request with too many values outside of records and their buckets. */
export function tooManyLooseValues(): ServiceError {
  const message =
    `the body has more than ${listItemsMax} values in fields that take any value, such as ` +
    "`value` of a filter";
  return new ServiceError("MALFORMED_BODY", message);
}

function tooMany(what: string): ServiceError {
  return new ServiceError("MALFORMED_BODY", `the body has more than ${what}; send it in parts`);
}

/**
 * Takes the memory of a decoded body. Throws BODY_TOO_LARGE where the call could never have it, and
 * OVERLOADED where others hold it now.
 */
export function reserveDecoded(decodedBytes: number, memory: Reservation): void {
  if (memory.bytes() + decodedBytes > memory.bytesMax) {
    throw new ServiceError(
      "BODY_TOO_LARGE",
      `the body takes ${memory.bytes() + decodedBytes} bytes of memory when it is read, and a ` +
        `request may hold ${memory.bytesMax}; send less at a time`,
    );
  }
  memory.grow(decodedBytes);
}
