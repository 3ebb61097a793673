// Collects the garbage of large requests early. V8 waits until the heap has grown to a multiple of
// the live objects; a few large requests have left hundreds of megabytes by then. Source:
// docs/limits.md, "Memory".

import { getHeapStatistics, setFlagsFromString } from "node:v8";
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
  /** Collects if the heap has grown much since the last collection; for work under pressure. */
  look(): void;
};

export function createGarbageCounter(collect: Collect = findCollect()): GarbageCounter {
  let garbageBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let due: Promise<void> | undefined;
  let end = (): void => undefined;
  const collectAll = async (): Promise<void> => {
    garbageBytes = 0;
    await collect({ type: "major", execution: "async" });
    // Waiting bodies go on after one collection, even if more was freed meanwhile.
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
    look: createHeapWatch(collect),
  };
}

/** Growth of the heap for a collection in the middle of large requests. */
const grownBytesMin = 96_000_000;

/**
 * Returns a function that collects if the heap has grown much since the last collection. One large
 * request leaves hundreds of megabytes before V8 collects by itself.
 */
export function createHeapWatch(collect: Collect, usedBytes = readUsedBytes) {
  let leastBytes = Infinity;
  let isCollecting = false;
  const collectAll = async (): Promise<void> => {
    isCollecting = true;
    await collect({ type: "major", execution: "async" });
    leastBytes = usedBytes();
    isCollecting = false;
  };
  return (): void => {
    const bytes = usedBytes();
    leastBytes = Math.min(leastBytes, bytes);
    if (bytes - leastBytes >= grownBytesMin && !isCollecting) void collectAll();
  };
}

function readUsedBytes(): number {
  return getHeapStatistics().used_heap_size;
}

function findCollect(): Collect {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as Collect;
}
