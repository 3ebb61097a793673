// Reads a request body: inflates it through a counter, stops at the limit of its class, refuses it
// when too many bytes are in flight, and gives up when it arrives too slowly.
// Source: docs/limits.md; docs/decisions.md, 36.1.

import type { Readable, Transform } from "node:stream";
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from "node:zlib";
import type { Reservation } from "../base/byte-budget.ts";
import { ServiceError } from "../base/errors.ts";
import { bodyRateMin, bodyTimeoutMs } from "../base/limits.ts";
import { free, gather } from "./body-parts.ts";

export type ReadBodyOptions = {
  /** Maximum bytes after inflating, inclusive. */
  readonly bytesMax: number;
  /** Bytes of a frame around the body, which do not count; default 0. */
  readonly frameBytes?: number;
  /** Maximum pause between two chunks. */
  readonly stallMs: number;
  /** Reservation that grows as bytes arrive; the caller releases it. */
  readonly reservation: Reservation;
  /** Value of Content-Encoding; undefined for an unencoded body. */
  readonly encoding: string | undefined;
  /** Value of Content-Length; undefined if absent. */
  readonly declaredBytes: string | undefined;
};

/** Time limits of a body. */
export type BodyTimes = {
  readonly stallMs: number;
  readonly timeoutMs: number;
  readonly rateMin: number;
};

const inflateChunkBytes = 65_536;

/**
 * Decoder options with the largest zstd window allowed: 8 MB (RFC 9659, 3). Node's default is 128
 * MB.
 */
const zstdParams = { [constants.ZSTD_d_windowLogMax]: 23 };

/** Decoders by Content-Encoding. `deflate` is zlib's format (RFC 9110, 8.4.1.2). */
const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip({ chunkSize: inflateChunkBytes }),
  "x-gzip": () => createGunzip({ chunkSize: inflateChunkBytes }),
  deflate: () => createInflate({ chunkSize: inflateChunkBytes }),
  br: () => createBrotliDecompress({ chunkSize: inflateChunkBytes }),
  zstd: () => createZstdDecompress({ chunkSize: inflateChunkBytes, params: zstdParams }),
};

/**
 * Returns the whole body; the chunks of the source are freed. On failure it stops reading and
 * leaves the rest unread. Fails with BODY_TOO_LARGE, BODY_TIMEOUT, OVERLOADED, or MALFORMED_BODY
 * for an unknown or broken encoding.
 */
export async function readBody(source: Readable, options: ReadBodyOptions): Promise<Buffer> {
  const { bytesMax, frameBytes = 0, declaredBytes, encoding, reservation, stallMs } = options;
  const decoder = decoderOf(encoding);
  if (Number(declaredBytes) > bytesMax + frameBytes) throw tooLarge(bytesMax);
  const gathered = gather(decoder !== undefined);
  const windowMax = windowBytesMax[nameOf(encoding)] ?? 0;
  let window = 0;
  const keep = (chunk: Buffer): Promise<void> | undefined => {
    if (gathered.length() + chunk.length > bytesMax + frameBytes) throw tooLarge(bytesMax);
    const more = Math.min(chunk.length, windowMax - window);
    reservation.grow(chunk.length + more);
    window += more;
    gathered.add(chunk);
    return gathered.length() < waitingBytesMin ? undefined : reservation.collection();
  };
  try {
    await pump(source, decoder, { stallMs, timeoutMs: bodyTimeoutMs, rateMin: bodyRateMin }, keep);
  } catch (error) {
    // Only then does the decoder write into none of the parts.
    decoder?.destroy();
    gathered.free();
    throw error;
  }
  decoder?.destroy();
  reservation.shrink(window);
  return gathered.join();
}

/** Minimum bytes of a body that waits for the collection of earlier bodies' garbage. */
const waitingBytesMin = 1_000_000;

/**
 * Maximum window of each decoder: bytes of the output that it holds a second time until the end.
 */
const windowBytesMax: Readonly<Record<string, number>> = { br: 16_777_216, zstd: 8_388_608 };

/** Returns the error for a body over its limit; the message names the limit and the way out. */
export function tooLarge(bytesMax: number): ServiceError {
  return new ServiceError(
    "BODY_TOO_LARGE",
    `the body is over ${bytesMax} bytes after inflating; send less at a time`,
  );
}

function nameOf(contentEncoding: string | undefined): string {
  return contentEncoding?.trim().toLowerCase() || "identity";
}

function decoderOf(contentEncoding: string | undefined): Transform | undefined {
  const name = nameOf(contentEncoding);
  if (name === "identity") return undefined;
  const create = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
  if (!create) {
    throw new ServiceError(
      "MALFORMED_BODY",
      "Content-Encoding: must be gzip, deflate, br, zstd or identity",
    );
  }
  return create();
}

/**
 * Moves chunks from the request through the decoder to `write` until the end or the first error.
 * Waits for the promise that `write` returns.
 */
function pump(
  source: Readable,
  decoder: Transform | undefined,
  times: BodyTimes,
  write: (chunk: Buffer) => Promise<void> | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let isStopped = false;
    const pace = watchPace(times, (error) => stop(error));

    const stop = (error?: Error): void => {
      isStopped = true;
      pace.end();
      source.off("data", onData).off("end", onEnd).off("error", onCut).off("close", onCut);
      source.pause();
      if (error === undefined) resolve();
      else reject(error);
    };
    const hold = async (pause: Promise<void>): Promise<void> => {
      const held = decoder ?? source;
      held.pause();
      await pause;
      if (isStopped) return;
      pace.note(0);
      held.resume();
    };
    const keep = (chunk: Buffer): void => {
      try {
        const pause = write(chunk);
        if (pause) void hold(pause);
      } catch (error) {
        decoder?.removeAllListeners("data").pause();
        stop(error as ServiceError);
      }
    };
    const onData = (chunk: Buffer): void => {
      pace.note(chunk.length);
      if (!decoder) keep(chunk);
      else if (!decoder.write(chunk, () => free(chunk))) source.pause();
    };
    const onEnd = (): void => {
      // The body is complete; the following close must not look like a cut while the decoder works.
      source.off("close", onCut).off("error", onCut);
      pace.end();
      if (decoder) decoder.end();
      else stop();
    };
    const onCut = (): void => stop(new ServiceError("MALFORMED_BODY", "the body ended early"));

    decoder?.on("data", keep);
    decoder?.on("drain", () => source.resume());
    decoder?.once("end", () => stop());
    decoder?.on("error", (cause) => {
      stop(new ServiceError("MALFORMED_BODY", "the body cannot be inflated", { cause }));
    });
    source.on("data", onData).once("end", onEnd).once("error", onCut).once("close", onCut);
    // A body that has ended before it is read was that of a stream that its client reset.
    if (source.destroyed || source.readableEnded) onCut();
  });
}

type Pace = {
  /** Counts bytes that arrived. */
  note(bytes: number): void;
  end(): void;
};

/**
 * Watches the speed of a body. No pause may exceed the stall time. After the first stall time the
 * average rate must be at least `rateMin`. The whole body must arrive within the total time.
 */
function watchPace(times: BodyTimes, onFault: (error: ServiceError) => void): Pace {
  const { stallMs, timeoutMs, rateMin } = times;
  const startedAtMs = performance.now();
  let bytes = 0;
  const fail = (message: string): void => onFault(new ServiceError("BODY_TIMEOUT", message));
  const stall = setTimeout(() => fail(`no byte of the body came for ${stallMs} ms`), stallMs);
  return {
    note(more) {
      bytes += more;
      stall.refresh();
      const elapsedMs = performance.now() - startedAtMs;
      if (elapsedMs > timeoutMs) fail(`the body took longer than ${timeoutMs} ms`);
      else if (elapsedMs > stallMs && bytes * 1000 < rateMin * elapsedMs) {
        fail(`the body came slower than ${rateMin} bytes a second`);
      }
    },
    end: () => clearTimeout(stall),
  };
}
