// Reads a request body: inflated through a counter, cut at the limit of its class, refused when too
// much is in flight, given up when it stalls. Called by the transcoder and the OTLP route.
// Source: docs/decisions.md, 36; docs/spec.md, Limits.

import type { IncomingHttpHeaders } from "node:http";
import type { Readable, Transform } from "node:stream";
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from "node:zlib";
import type { Reservation } from "../base/byte-budget.ts";
import { ServiceError } from "../base/errors.ts";

export type ReadBodyOptions = {
  /** Bytes after inflating, inclusive. */
  readonly bytesMax: number;
  /** Longest pause between two chunks. */
  readonly stallMs: number;
  readonly reservation: Reservation;
};

const inflateChunkBytes = 65_536;

/** `deflate` is zlib's format (RFC 9110, 8.4.1.2). */
const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip({ chunkSize: inflateChunkBytes }),
  "x-gzip": () => createGunzip({ chunkSize: inflateChunkBytes }),
  deflate: () => createInflate({ chunkSize: inflateChunkBytes }),
  br: () => createBrotliDecompress({ chunkSize: inflateChunkBytes }),
  zstd: () => createZstdDecompress({ chunkSize: inflateChunkBytes }),
};

/**
 * Returns the whole body. On failure it stops reading and leaves the rest unread. Fails with
 * BODY_TOO_LARGE, BODY_TIMEOUT, OVERLOADED, or MALFORMED_BODY for an unknown or broken encoding.
 */
export async function readBody(
  source: Readable,
  headers: IncomingHttpHeaders,
  options: ReadBodyOptions,
): Promise<Buffer> {
  const decoder = decoderOf(headers["content-encoding"]);
  const declared = Number(headers["content-length"]);
  if (declared > options.bytesMax) throw tooLarge(options.bytesMax);
  // A body of known length is written in place; its memory counts from the start.
  if (!decoder && Number.isSafeInteger(declared)) options.reservation.grow(declared);
  const sink = !decoder && Number.isSafeInteger(declared) ? fixedSink(declared) : listSink(options);
  try {
    await pump(source, decoder, options.stallMs, sink.write);
  } finally {
    decoder?.destroy();
  }
  return sink.end();
}

/** Returns the error of a body over its limit; the message names the limit and the way out. */
export function tooLarge(bytesMax: number): ServiceError {
  return new ServiceError(
    "BODY_TOO_LARGE",
    `the body is over ${bytesMax} bytes after inflating; send less at a time`,
  );
}

type Sink = { readonly write: (chunk: Buffer) => void; readonly end: () => Buffer };

function fixedSink(length: number): Sink {
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  return {
    // HTTP/1 parsers and HTTP/2 sessions hold a body to its declared length.
    write: (chunk) => {
      at += chunk.copy(bytes, at);
    },
    end: () => bytes.subarray(0, at),
  };
}

function listSink({ bytesMax, reservation }: ReadBodyOptions): Sink {
  const chunks: Buffer[] = [];
  let total = 0;
  return {
    write: (chunk) => {
      total += chunk.length;
      if (total > bytesMax) throw tooLarge(bytesMax);
      reservation.grow(chunk.length);
      chunks.push(chunk);
    },
    end: () => (chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks)),
  };
}

function decoderOf(contentEncoding: string | undefined): Transform | undefined {
  const name = contentEncoding?.trim().toLowerCase();
  if (name === undefined || name === "" || name === "identity") return undefined;
  const create = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
  if (!create) {
    throw new ServiceError(
      "MALFORMED_BODY",
      "Content-Encoding: must be gzip, deflate, br, zstd or identity",
    );
  }
  return create();
}

/** Moves chunks from the request through the decoder to `write`, to the end or the first fault. */
function pump(
  source: Readable,
  decoder: Transform | undefined,
  stallMs: number,
  write: (chunk: Buffer) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      stop(new ServiceError("BODY_TIMEOUT", `no byte of the body came for ${stallMs} ms`));
    }, stallMs);

    const stop = (error?: Error): void => {
      clearTimeout(timer);
      source.off("data", onData).off("end", onEnd).off("error", onCut).off("close", onCut);
      source.pause();
      if (error === undefined) resolve();
      else reject(error);
    };
    const keep = (chunk: Buffer): void => {
      try {
        write(chunk);
      } catch (error) {
        decoder?.removeAllListeners("data").pause();
        stop(error as ServiceError);
      }
    };
    const onData = (chunk: Buffer): void => {
      timer.refresh();
      if (!decoder) keep(chunk);
      else if (!decoder.write(chunk)) source.pause();
    };
    const onEnd = (): void => {
      // All is here; the close that follows must not look like a cut while the decoder still works.
      source.off("close", onCut).off("error", onCut);
      clearTimeout(timer);
      if (decoder) decoder.end();
      else stop();
    };
    const onCut = (): void => stop(new ServiceError("MALFORMED_BODY", "the body broke off"));

    decoder?.on("data", keep);
    decoder?.on("drain", () => source.resume());
    decoder?.once("end", () => stop());
    decoder?.on("error", (cause) => {
      stop(new ServiceError("MALFORMED_BODY", "the body cannot be inflated", { cause }));
    });
    source.on("data", onData).once("end", onEnd).once("error", onCut).once("close", onCut);
    if (source.destroyed && !source.readableEnded) onCut();
  });
}
