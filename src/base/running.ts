// Running work that a shutdown waits for because it must not be cut off: generations, and calls
// with an Idempotency-Key.

export type Running = {
  /** Runs work; `drain` waits for it. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when no work runs. */
  drain(): Promise<void>;
};

/**
 * Counts the work. A set of its promises would hold on to them: a set that shrinks leaves a table
 * behind, which keeps the next one in memory, and so on until the whole heap is collected.
 */
export function createRunning(): Running {
  let count = 0;
  let onIdle: (() => void)[] = [];
  return {
    async run(work) {
      count += 1;
      try {
        return await work();
      } finally {
        count -= 1;
        if (count === 0) {
          for (const resolve of onIdle) resolve();
          onIdle = [];
        }
      }
    },
    async drain() {
      // Work that ends may have begun other work.
      while (count > 0) await new Promise<void>((resolve) => onIdle.push(resolve));
    },
  };
}
