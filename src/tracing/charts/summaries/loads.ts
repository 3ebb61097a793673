// One load of summaries at a time for each project and plan: questions that need hours which are
// not in memory wait for the one that reads them, and then find them.

import { ServiceError } from "../../../base/errors.ts";

export type LoadOptions = {
  readonly key: string;
  /** Time of the process' clock by which others must have loaded. */
  readonly endsAtMs: number;
  readonly isLoaded: () => boolean;
};

/**
 * Runs `load` after the loads of the same key that others run, unless `isLoaded` returns true by
 * then. Throws DEADLINE_EXCEEDED if they take too long.
 */
export type RunLoad = <T>(options: LoadOptions, load: () => Promise<T>) => Promise<T>;

export function createLoads(): RunLoad {
  const running = new Map<string, Promise<unknown>>();

  return async ({ key, endsAtMs, isLoaded }, load) => {
    while (!isLoaded()) {
      const other = running.get(key);
      if (other === undefined) return lead(key, load);
      if (!(await settlesBefore(other, endsAtMs))) throw tooSlow();
    }
    return load();
  };

  async function lead<T>(key: string, load: () => Promise<T>): Promise<T> {
    const own = load();
    running.set(key, own);
    try {
      return await own;
    } finally {
      running.delete(key);
    }
  }
}

/** Waits for the end of a load, or until a time of the process' clock; returns whether it ended. */
async function settlesBefore(load: Promise<unknown>, endsAtMs: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), Math.max(0, endsAtMs - performance.now()));
  const settle = (): void => resolve(true);
  load.then(settle, settle);
  const isSettled = await promise;
  clearTimeout(timer);
  return isSettled;
}

function tooSlow(): ServiceError {
  const message =
    "the same chart is being read for others for too long; ask again, or ask for less: " +
    "a narrower date range, or a filter on more";
  return new ServiceError("DEADLINE_EXCEEDED", message);
}
