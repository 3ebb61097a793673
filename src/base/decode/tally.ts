// Counts of a body's objects, single values and memory, taken from its encoded bytes before it is
// decoded. A body over a limit is refused; otherwise its decoded size is reserved.
// Source: docs/limits.md.

import type { Reservation } from "../byte-budget.ts";
import { ServiceError } from "../errors.ts";
import {
  containersMax,
  listItemsMax,
  memberNameBytesMax,
  messageDepthMax,
  valuesMax,
} from "../limits.ts";

/** Counts of one body. */
export type Tally = {
  /** Objects and arrays of JSON, or messages of Protobuf. */
  containers: number;
  /** Texts, numbers, booleans and nulls. */
  values: number;
  /** Bytes of memory of the decoded value in addition to its texts. */
  memory: number;
};

/** Bytes that V8 takes for a JSON object or array with its slots. */
export const containerBytes = 72;

/** Bytes for the header and the slot of a text or number, in addition to the text itself. */
export const valueBytes = 24;

/** Bytes for the error of one item: its message, its cause, and its part of the answer. */
export const faultBytes = 800;

/** Throws MALFORMED_BODY with the name of the limit if a count exceeds it. */
export function checkTally({ containers, values }: Tally): void {
  if (containers > containersMax) {
    throw tooMany(`${containersMax} objects and arrays`);
  }
  if (values > valuesMax) throw tooMany(`${valuesMax} values`);
}

/** Returns the error for a list that is too long; the message names the list. */
export function tooManyItems(name: string): ServiceError {
  const message = `${name}: must have at most ${listItemsMax} items; send them in parts`;
  return new ServiceError("INVALID_ARGUMENT", message);
}

/** Returns the error for an object with too many members. */
export function tooManyMembers(): ServiceError {
  const message = `the body has an object with more than ${listItemsMax} members`;
  return new ServiceError("MALFORMED_BODY", message);
}

/** Returns the error for a member with too long a name, which V8 copies several times. */
export function tooLongName(): ServiceError {
  const message = `the body has an object with a name of more than ${memberNameBytesMax} bytes`;
  return new ServiceError("MALFORMED_BODY", message);
}

/**
 * Counts the values in a free-form field that is not a bucket. Throws MALFORMED_BODY if a request
 * has more than `listItemsMax`, since protobuf-es holds each as a message.
 */
export function countLoose(value: unknown, loose: { count: number }, level = 0): void {
  loose.count += 1;
  if (loose.count > listItemsMax) throw tooManyLooseValues();
  // Readers refuse deeper values, and the stack has room for only some thousand levels.
  if (typeof value !== "object" || value === null || level > messageDepthMax) return;
  for (const member of Object.values(value)) countLoose(member, loose, level + 1);
}

/** Returns the error for a request with too many values outside of records and their buckets. */
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
 * Reserves the memory of a decoded body. Throws BODY_TOO_LARGE if the call may never hold as much,
 * and OVERLOADED if other calls hold it now.
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

/** Bytes of memory that small parts gather before they are reserved. */
const gatheredBytes = 65_536;

/** Reserves the memory of many small parts, a few at a time. */
export type GatheredMemory = {
  /** Adds a part; throws as `reserveDecoded` if there is no memory. */
  add(bytes: number): void;
  /** Reserves the memory of the parts since the last reservation. */
  end(): void;
};

export function gatherMemory(memory: Reservation): GatheredMemory {
  let owed = 0;
  const end = (): void => {
    reserveDecoded(owed, memory);
    owed = 0;
  };
  return {
    add(bytes) {
      owed += bytes;
      if (owed >= gatheredBytes) end();
    },
    end,
  };
}
