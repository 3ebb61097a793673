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
  /**
   * Returns the end of the collection that is due; undefined if there is little garbage. Large
   * bodies wait for it, so that garbage does not pile up behind them.
   */
  due(): Promise<void> | undefined;
};

export function createGarbageCounter(collect: Collect = findCollect()): GarbageCounter {
  let garbageBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let due: Promise<void> | undefined;
  let end = (): void => undefined;
  const collectAll = async (): Promise<void> => {
    garbageBytes = 0;
    await collect({ type: "major", execution: "async" });
    // What was freed during the collection may be alive in its eyes, and waits for the next one.
    if (garbageBytes >= garbageBytesMax) return;
    end();
    due = undefined;
  };
  return {
    note(bytes) {
      if (bytes < largeBytesMin) return;
      const isDue = garbageBytes >= garbageBytesMax;
      garbageBytes += bytes;
      if (garbageBytes < garbageBytesMin || isDue) return;
      if (garbageBytes >= garbageBytesMax) due ??= new Promise((resolve) => (end = resolve));
      timer ??= setTimeout(() => void collectAll(), settlingMs).unref();
      timer.refresh();
    },
    due: () => due,
  };
}

function findCollect(): Collect {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as Collect;
}
