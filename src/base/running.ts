// Running work that a shutdown waits for because it must not be cut off: generations, and calls
// with an Idempotency-Key.

export type Running = {
  /** Runs work; `drain` waits for it. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when no work runs. */
  drain(): Promise<void>;
};

export function createRunning(): Running {
  const running = new Set<Promise<unknown>>();
  return {
    async run(work) {
      const promise = work();
      running.add(promise);
      try {
        return await promise;
      } finally {
        running.delete(promise);
      }
    },
    async drain() {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}
