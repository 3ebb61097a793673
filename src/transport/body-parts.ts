// Collects the parts of a request body and joins them at the end. Frees each buffer as soon as its
// bytes are copied: until a collection, a body would leave several times its size.

import type { Reservation } from "../base/byte-budget.ts";

const noBytes = Buffer.alloc(0);

/** Maximum bytes of the block into which the parts of a body are copied. */
const blockBytesMax = 1_000_000;

/** Minimum bytes of a buffer that is freed early. */
const freedBytesMin = 16_384;

export type Gathered = {
  add(chunk: Buffer): void;
  length(): number;
  /** Returns all bytes. */
  join(): Buffer;
  /** Frees the parts of a body that is not read to its end. */
  free(): void;
};

/**
 * Frees the memory of a buffer, which is empty from then on. Does nothing if the buffer is small or
 * is a part of a larger one.
 */
export function free(bytes: Buffer): void {
  if (bytes.byteLength === bytes.buffer.byteLength) freeWhole(bytes);
}

/** Returns the bytes of a body that is decoded to its reservation, and frees them. */
export function dropBody(bytes: Buffer, memory: Pick<Reservation, "shrink">): void {
  // The length must be read first, because a freed buffer has none.
  memory.shrink(bytes.length);
  free(bytes);
}

function freeWhole({ buffer }: Buffer): void {
  if (buffer.byteLength >= freedBytesMin && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/**
 * Gathers the parts of a body and joins them once, since a growing buffer leaves as much garbage as
 * its own size. `isDecoded` tells that the parts come from a decoder, which fills one buffer after
 * another: a buffer whose last byte has come is in use no more.
 */
export function gather(isDecoded: boolean): Gathered {
  /** The only part so far; most bodies have one. */
  let single: Buffer | undefined;
  const full: Buffer[] = [];
  let before = 0;
  let block: Buffer = noBytes;
  let used = 0;

  function copy(chunk: Buffer): void {
    for (let rest = chunk; rest.length > 0;) {
      if (used === block.length) {
        if (used > 0) full.push(block);
        before += used;
        block = Buffer.allocUnsafeSlow(Math.min(blockBytesMax, before + rest.length));
        used = 0;
      }
      const copied = rest.copy(block, used);
      used += copied;
      rest = rest.subarray(copied);
    }
    const isLast = chunk.byteOffset + chunk.byteLength === chunk.buffer.byteLength;
    if (isDecoded && isLast) freeWhole(chunk);
    else free(chunk);
  }

  function freeBlocks(): void {
    for (const one of [...full, block]) freeWhole(one);
  }

  const length = (): number => single?.length ?? before + used;

  return {
    add(chunk) {
      if (length() === 0) {
        single = chunk;
        return;
      }
      if (single) {
        const first = single;
        single = undefined;
        copy(first);
      }
      copy(chunk);
    },
    length,
    join() {
      if (single) return single;
      const joined = Buffer.allocUnsafeSlow(before + used);
      let at = 0;
      for (const one of full) {
        at += one.copy(joined, at);
        freeWhole(one);
      }
      block.copy(joined, at, 0, used);
      freeWhole(block);
      return joined;
    },
    free: freeBlocks,
  };
}
