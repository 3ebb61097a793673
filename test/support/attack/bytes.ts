// Makes large bodies cheaply: encoded bytes are repeated, not encoded again, so an attack costs its
// sender far less than a service that decodes each unit.

import { promisify } from "node:util";
import { brotliCompress, constants, gzip, zstdCompress } from "node:zlib";

/** Returns the bytes of a unit, repeated `count` times. */
export function repeat(unit: string | Uint8Array | readonly number[], count: number): Buffer {
  const bytes = Buffer.from(unit);
  return bytes.length === 0 ? bytes : Buffer.alloc(bytes.length * count, bytes);
}

/** Joins texts and bytes. */
export function join(...parts: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
}

/** Returns a JSON array with `count` copies of one item. */
export function jsonList(item: string | Uint8Array, count: number): Buffer {
  if (count === 0) return Buffer.from("[]");
  return join("[", repeat(join(item, ","), count - 1), item, "]");
}

/** Returns a number as a Protobuf varint. */
export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}

const varintType = 0;
const lengthType = 2;

/** Returns a Protobuf field with bytes: a text or a message. */
export function lengthField(number: number, value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value);
  return join(varint(number * 8 + lengthType), varint(bytes.length), bytes);
}

/** Returns a Protobuf field with a number. */
export function numberField(number: number, value: number): Buffer {
  return join(varint(number * 8 + varintType), varint(value));
}

/** Returns bytes in a gRPC envelope: flag, length, message. */
export function envelope(flag: number, bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(envelopeHeadBytes);
  head.writeUInt8(flag);
  head.writeUInt32BE(bytes.length, 1);
  return join(head, bytes);
}

export const envelopeHeadBytes = 5;

export type Encoding = "identity" | "gzip" | "br" | "zstd";

export const encodings: readonly Encoding[] = ["identity", "gzip", "br", "zstd"];

/** Low Brotli quality: the default of 11 takes minutes for 64 MB. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } };

const encoders: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  identity: (bytes) => Promise.resolve(bytes),
  gzip: (bytes) => promisify(gzip)(bytes),
  br: (bytes) => promisify(brotliCompress)(bytes, brotliOptions),
  zstd: (bytes) => promisify(zstdCompress)(bytes),
};

/** Compresses bytes on another thread. */
export function compress(encoding: Encoding, bytes: Buffer): Promise<Buffer> {
  return encoders[encoding](bytes);
}
