// Compression of answers (REST) and of messages (RPC): the choice of encoding and the encoders.
// zlib runs on its own threads. Source: RFC 9110, 12.5.3.

import type { Transform } from "node:stream";
import { promisify } from "node:util";
import {
  brotliCompress,
  brotliDecompress,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gunzip,
  gzip,
  zstdCompress,
  zstdDecompress,
} from "node:zlib";
import { ServiceError } from "../base/errors.ts";
import { tooLarge } from "./body.ts";
import type { Compression } from "./connect-adapter.ts";
import { toConnectError } from "./interceptors/errors.ts";

/** Minimum bytes of an answer that is compressed; smaller ones gain nothing. */
const compressBytesMin = 1_024;

/** Brotli quality 4, which costs about as much as gzip; the default 11 is for files made once. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

type Inflate = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>;

/** Codecs in the service's order of preference: least cost for the gain first. */
const codecs = {
  zstd: {
    compress: promisify(zstdCompress) as (bytes: Uint8Array) => Promise<Buffer>,
    inflate: promisify(zstdDecompress) as Inflate,
    stream: (): Transform => createZstdCompress(),
    flush: constants.ZSTD_e_flush,
  },
  br: {
    compress: (bytes: Uint8Array) => promisify(brotliCompress)(bytes, brotliOptions),
    inflate: promisify(brotliDecompress) as Inflate,
    stream: (): Transform => createBrotliCompress(brotliOptions),
    flush: constants.BROTLI_OPERATION_FLUSH,
  },
  gzip: {
    compress: (bytes: Uint8Array) => promisify(gzip)(bytes),
    inflate: promisify(gunzip) as Inflate,
    stream: (): Transform => createGzip(),
    flush: constants.Z_SYNC_FLUSH,
  },
};

export type Encoding = keyof typeof codecs;
const encodings = Object.keys(codecs) as readonly Encoding[];

/** Returns the encoding for an answer of `bytes` bytes, or undefined to send it uncompressed. */
export function encodingFor(
  bytes: number,
  acceptEncoding: string | undefined,
): Encoding | undefined {
  if (bytes < compressBytesMin || acceptEncoding === undefined) return undefined;
  const weights = parseWeights(acceptEncoding);
  const fallback = weights.get("*") ?? 0;
  const weightOf = (one: Encoding): number => weights.get(one) ?? fallback;
  const [best] = encodings.toSorted((a, b) => weightOf(b) - weightOf(a));
  return best && weightOf(best) > 0 ? best : undefined;
}

export function compressBody(encoding: Encoding, body: Uint8Array): Promise<Buffer> {
  return codecs[encoding].compress(body);
}

/**
 * Encoder of a stream. `flush` sends all bytes that it holds, so that a slow stream still arrives.
 */
export type StreamEncoder = { readonly transform: Transform; readonly flush: () => Promise<void> };

export function createStreamEncoder(encoding: Encoding): StreamEncoder {
  const codec = codecs[encoding];
  const transform = codec.stream();
  const flushable = transform as Transform & { flush(kind: number, done: () => void): void };
  return {
    transform,
    flush: () => new Promise((resolve) => flushable.flush(codec.flush, resolve)),
  };
}

/** Returns message compression for the RPC protocols, with our limits and error reasons. */
export function rpcCompressions(): Compression[] {
  return (["gzip", "br", "zstd"] as const).map((name) => ({
    name,
    compress: async (bytes) => toPlain(await codecs[name].compress(bytes)),
    decompress: async (bytes, bytesMax) => {
      if (bytes.length === 0) return new Uint8Array(0);
      return toPlain(await inflate(codecs[name].inflate, bytes, bytesMax));
    },
  }));
}

async function inflate(run: Inflate, bytes: Uint8Array, bytesMax: number): Promise<Buffer> {
  try {
    return await run(bytes, { maxOutputLength: bytesMax });
  } catch (cause) {
    const isTooLarge = (cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    throw toConnectError(
      isTooLarge
        ? tooLarge(bytesMax)
        : new ServiceError("MALFORMED_BODY", "the message cannot be inflated", { cause }),
    );
  }
}

function toPlain(bytes: Buffer): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer
    ? (bytes as Uint8Array<ArrayBuffer>)
    : new Uint8Array(bytes);
}

/**
 * Returns the names in Accept or Accept-Encoding, in lower case, with their weights. The weight is
 * 1 if `q` is absent; 0 means not acceptable. Source: RFC 9110, 12.4.2.
 */
export function parseWeights(header: string): ReadonlyMap<string, number> {
  return new Map(header.split(",").map(parseWeight));
}

function parseWeight(item: string): [name: string, weight: number] {
  const [name = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith("q="));
  return [name, quality === undefined ? 1 : Number(quality.slice(2)) || 0];
}
