// Makes many bytes from few, each in one pass: units that differ by a counter, and nested levels.

import { repeat } from "../bytes.ts";

/** Text that `stamp` replaces by a counter with the same number of digits. */
export const marker = "00000000";

/**
 * Replaces each marker by its number; markers are as far apart as the first two. Returns the bytes.
 */
export function stamp(bytes: Buffer): Buffer {
  const first = bytes.indexOf(marker);
  if (first < 0) return bytes;
  const second = bytes.indexOf(marker, first + marker.length);
  const stride = second < 0 ? bytes.length : second - first;
  let count = 0;
  for (let at = first; at + marker.length <= bytes.length; at += stride) {
    count += 1;
    for (let rest = count, digit = marker.length - 1; rest > 0 && digit >= 0; digit -= 1) {
      bytes[at + digit] = zero + (rest % 10);
      rest = Math.floor(rest / 10);
    }
  }
  return bytes;
}

const zero = 0x30;
const lengthType = 2;
const startGroup = 3;
const endGroup = 4;

/** Maximum bytes of a tag and a length, for field numbers below 2,048. */
const headBytesMax = 6;

/** Returns nested Protobuf messages of about `bytes` bytes. */
export function nestMessages(fields: readonly number[], inner: Uint8Array, bytes: number): Buffer {
  const depth = Math.floor(bytes / (fields.length * (1 + lengthOf(bytes))));
  const all = Buffer.alloc(inner.length + depth * fields.length * headBytesMax);
  let at = all.length - inner.length;
  all.set(inner, at);
  for (let level = 0; level < depth; level += 1) {
    for (let index = fields.length - 1; index >= 0; index -= 1) {
      const length = all.length - at;
      at = writeBefore(all, at, length);
      at = writeBefore(all, at, (fields[index] ?? 0) * 8 + lengthType);
    }
  }
  return all.subarray(at);
}

/** Returns nested groups, which no message here has. */
export function nestGroups(field: number, bytes: number): Buffer {
  const depth = Math.floor(bytes / 2);
  return Buffer.concat([
    repeat([field * 8 + startGroup], depth),
    repeat([field * 8 + endGroup], depth),
  ]);
}

function writeBefore(all: Buffer, end: number, value: number): number {
  const start = end - lengthOf(value);
  let rest = value;
  for (let at = start; at < end; at += 1) {
    all[at] = (rest % 0x80) | (at + 1 < end ? 0x80 : 0);
    rest = Math.floor(rest / 0x80);
  }
  return start;
}

/** Returns the number of bytes of a Protobuf varint. */
function lengthOf(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes += 1;
  return bytes;
}
