// Collects the garbage of large requests soon. V8 waits until the heap has grown to a multiple of
// what is alive, by when a few large requests have left hundreds of megabytes.
// Source: docs/limits.md, "Memory".

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** V8's own function, which a process has only where this flag is set. */
type Collect = (options: { type: "major"; execution: "async" }) => Promise<void>;

/** Garbage of smaller requests dies young, which costs next to nothing. */
const largeBytesMin = 4_000_000;

/** Bytes of garbage that are worth a collection, which takes some 50 ms. */
const garbageBytesMin = 16_000_000;
/** Bytes of garbage past which a collection waits no longer for more. */
const garbageBytesMax = 64_000_000;
/** Time for the calls that gave bytes back to end: until then their values are alive. */
const settlingMs = 100;

export type GarbageCounter = {
  /** Notes bytes that nothing holds any more; collects once large pieces of them are many. */
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
