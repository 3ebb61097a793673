// Gathers results and has them committed some at a time, while further events run. Called by
// run-chunk.ts.

import type { EndedRun } from "../scores/scores.ts";

export type ResultBatch = {
  /** Waits for the commit when a batch is full. Fails as that does, or as one before has. */
  add(run: EndedRun): Promise<void>;
  /** Commits what waits. Fails as the commit does. */
  flush(): Promise<void>;
};

const resultsMax = 100;
const waitMs = 250;

export function createResultBatch(
  commit: (results: readonly EndedRun[]) => Promise<void>,
): ResultBatch {
  let waiting: EndedRun[] = [];
  let timer: NodeJS.Timeout | undefined;
  /** One commit after another; once one has failed, so does everything after it. */
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
      // Told to whoever adds or flushes next.
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
