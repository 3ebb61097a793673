// Collects the garbage of large requests early. V8 waits until the heap has grown to a multiple of
// the live objects; a few large requests have left hundreds of megabytes by then. V8 also keeps the
// freed pages of the heap for later; a last-resort collection returns them to the system. Source:
// docs/limits.md, "Memory".

import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** V8's own function. A process has it only if `--expose-gc` is set. */
type GarbageCollection = (options: {
  type: "major";
  execution: "async";
  flavor: "regular" | "last-resort";
}) => Promise<void>;

/** Collects once. */
type Collect = () => Promise<void>;

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

export function createGarbageCounter(
  collect: Collect = createCollector(findGarbageCollection()),
): GarbageCounter {
  let garbageBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let due: Promise<void> | undefined;
  let end = (): void => undefined;
  const collectAll = async (): Promise<void> => {
    garbageBytes = 0;
    await collect();
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
    await collect();
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

/** Bytes by which the heap has shrunk from which freed pages return to the system. */
const freedPagesBytesMax = 64_000_000;

/**
 * Returns a function that collects, and returns the freed pages of the heap to the system if there
 * are many. V8 keeps 176 MB of them under large requests. Their return takes 40 ms.
 */
export function createCollector(
  collectGarbage: GarbageCollection,
  heapBytes = readHeapBytes,
): Collect {
  let bytesMax = 0;
  return async () => {
    bytesMax = Math.max(bytesMax, heapBytes());
    await collectGarbage({ type: "major", execution: "async", flavor: "regular" });
    if (bytesMax - heapBytes() < freedPagesBytesMax) return;
    await collectGarbage({ type: "major", execution: "async", flavor: "last-resort" });
    bytesMax = heapBytes();
  };
}

/** Returns the bytes of the heap's pages in use. */
function readHeapBytes(): number {
  return getHeapStatistics().total_heap_size;
}

function findGarbageCollection(): GarbageCollection {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as GarbageCollection;
}
