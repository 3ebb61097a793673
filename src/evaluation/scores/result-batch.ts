// Gathers results and commits them in batches, while further events run.

import type { EndedRun } from "./scores.ts";

export type ResultBatch = {
  /**
   * Adds a result. Waits for the commit if the batch is full. Throws if that commit or an earlier
   * one failed.
   */
  add(run: EndedRun): Promise<void>;
  /** Commits the waiting results. Throws if the commit fails. */
  flush(): Promise<void>;
};

const resultsMax = 100;
const waitMs = 250;

export function createResultBatch(
  commit: (results: readonly EndedRun[]) => Promise<void>,
): ResultBatch {
  let waiting: EndedRun[] = [];
  let timer: NodeJS.Timeout | undefined;
  /** Chain of commits: they run one after another, and after a failure all later ones fail too. */
  let last = Promise.resolve();
  let hasFailed = false;

  async function commitWaiting(): Promise<void> {
    const results = waiting;
    waiting = [];
    if (results.length > 0) await commit(results);
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    last = last.then(commitWaiting);
    last.catch(() => {
      // The next `add` or `flush` throws the error.
      hasFailed = true;
    });
    return last;
  }

  return {
    async add(run) {
      waiting.push(run);
      timer ??= setTimeout(() => void flush(), waitMs);
      if (hasFailed || waiting.length >= resultsMax) await flush();
    },
    flush,
  };
}
