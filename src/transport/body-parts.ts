// Collects the parts of a request body and joins them at the end with little garbage.

const noBytes = Buffer.alloc(0);

/** Maximum bytes of the block into which small parts of a body are copied. */
const blockBytesMax = 1_000_000;

/** Minimum bytes of a decoder's part that is kept without a copy. */
const keptBytesMin = 16_384;

export type Gathered = {
  add(chunk: Buffer): void;
  length(): number;
  join(): Buffer;
};

/**
 * Gathers the parts of a body and joins them once, since a growing buffer leaves as much garbage as
 * its own size. Small parts are copied, because each may hold the whole buffer that was read with
 * it. Large parts of a decoder are not copied.
 */
export function gather(isDecoded: boolean): Gathered {
  const parts: Buffer[] = [];
  let before = 0;
  let block: Buffer = noBytes;
  let used = 0;
  const endBlock = (): void => {
    if (used > 0) parts.push(block.subarray(0, used));
    before += used;
    block = noBytes;
    used = 0;
  };
  return {
    add(chunk) {
      // Most bodies have one part.
      if (before + used === 0 || (isDecoded && chunk.length >= keptBytesMin)) {
        endBlock();
        parts.push(chunk);
        before += chunk.length;
        return;
      }
      for (let rest = chunk; rest.length > 0;) {
        if (used === block.length) {
          endBlock();
          block = Buffer.allocUnsafeSlow(Math.min(blockBytesMax, before + rest.length));
        }
        const copied = rest.copy(block, used);
        used += copied;
        rest = rest.subarray(copied);
      }
    },
    length: () => before + used,
    join() {
      endBlock();
      const [first = noBytes] = parts;
      return parts.length <= 1 ? first : Buffer.concat(parts, before);
    },
  };
}
