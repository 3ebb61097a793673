// Collects the garbage of large requests early. V8 waits until the heap has grown to a multiple of
// the live objects; a few large requests have left hundreds of megabytes by then. Source:
// docs/limits.md, "Memory".

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** V8's own function. A process has it only if `--expose-gc` is set. */
type Collect = (options: { type: "major"; execution: "async" }) => Promise<void>;

/**
 * Minimum bytes that are counted. Garbage of smaller requests dies young, which costs almost
 * nothing.
 */
const largeBytesMin = 4_000_000;

/** Minimum bytes of garbage for a collection, which takes about 50 ms. */
const garbageBytesMin = 16_000_000;
/** Bytes of garbage from which a collection no longer waits for more. */
const garbageBytesMax = 64_000_000;
/** Time for the calls that returned the bytes to end: until then their values are alive. */
const settlingMs = 100;

export type GarbageCounter = {
  /** Adds bytes that are garbage now. Collects when large pieces of them add up to the minimum. */
  note(bytes: number): void;
};

export function createGarbageCounter(collect: Collect = findCollect()): GarbageCounter {
  let garbageBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const collectAll = (): void => {
    garbageBytes = 0;
    void collect({ type: "major", execution: "async" });
  };
  return {
    note(bytes) {
      if (bytes < largeBytesMin) return;
      const isDue = garbageBytes >= garbageBytesMax;
      garbageBytes += bytes;
      if (garbageBytes < garbageBytesMin || isDue) return;
      timer ??= setTimeout(collectAll, settlingMs).unref();
      timer.refresh();
    },
  };
}

function findCollect(): Collect {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as Collect;
}
