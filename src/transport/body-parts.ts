// The parts of a request body, joined when it is whole, with little left behind. Called by body.ts.

const noBytes = Buffer.alloc(0);

/** Largest block that small parts of a body are copied into. */
const blockBytesMax = 1_000_000;

/** Smallest part of a decoder that is kept as it is. */
const keptBytesMin = 16_384;

export type Gathered = {
  add(chunk: Buffer): void;
  length(): number;
  join(): Buffer;
};

/**
 * Gathers the parts of a body, to be joined once: a buffer that grows leaves as many bytes behind
 * as it has. Small parts are copied, since each may hold all that was read with it; a decoder's
 * large ones are not.
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
      // Most bodies are one part.
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
