// Bounds of the masking of one request: its turns beside other work, its time, and its growth.

import { refuse, ServiceError } from "../../base/errors.ts";
import { ingestionTimeoutMs } from "../../base/limits.ts";
import { createPacer } from "../../base/pacer.ts";
import { maskingGrowthMax } from "../../base/tenant-limits.ts";

export type Work = {
  /** Tells whether other work is to have a turn. */
  readonly isDue: () => boolean;
  /** Waits for the next turn. Throws DEADLINE_EXCEEDED. */
  readonly rest: () => Promise<void>;
  /** Counts a replacement of so many characters. Throws INVALID_ARGUMENT. */
  readonly count: (replacement: string, length: number) => void;
  readonly replaced: () => number;
};

/** Returns the bounds of work that begins now; `lane` as of `createPacer`. */
export function createWork(lane: string): Work {
  const pacer = createPacer(lane);
  const endMs = Date.now() + ingestionTimeoutMs;
  let replaced = 0;
  let growth = 0;
  return {
    isDue: () => pacer.due(),
    async rest() {
      if (Date.now() > endMs) {
        const message = `masking took longer than ${ingestionTimeoutMs} ms`;
        throw new ServiceError("DEADLINE_EXCEEDED", message);
      }
      await pacer.rest();
    },
    count(replacement, length) {
      replaced += 1;
      growth += replacement.length - length;
      if (growth > maskingGrowthMax) {
        const cause = `make the request more than ${maskingGrowthMax} characters longer`;
        refuse("replacements of masking rules", cause);
      }
    },
    replaced: () => replaced,
  };
}
