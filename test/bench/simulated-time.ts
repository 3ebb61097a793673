// Simulated time: timers fire in order without waiting, so that code of the service that waits by
// `setTimeout` runs for simulated minutes within seconds. One simulation runs at a time.

import { setImmediate as nextTurn } from "node:timers/promises";

export type SimulatedTime = {
  now(): number;
  wait(ms: number): Promise<void>;
  /** Resource of `places` places; each use holds one of them for `ms`, in order of arrival. */
  resource(places: number): (ms: number) => Promise<void>;
};

type Timer = { readonly at: number; readonly fire: () => void; isCancelled: boolean };

/** Runs `work` with `setTimeout` and `clearTimeout` on simulated milliseconds. */
export async function onSimulatedTime<T>(work: (time: SimulatedTime) => Promise<T>): Promise<T> {
  const timers: Timer[] = [];
  let nowMs = 0;

  function start(fire: () => void, ms = 0): Timer {
    const timer = { at: nowMs + Math.max(ms, 0), fire, isCancelled: false };
    timers.splice(placeOf(timers, timer.at), 0, timer);
    return timer;
  }

  const wait = (ms: number) => new Promise<void>((resolve) => void start(resolve, ms));
  const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
  const cancel = (timer: Timer | undefined): void => {
    if (timer) timer.isCancelled = true;
  };
  Object.assign(globalThis, { setTimeout: start, clearTimeout: cancel });
  try {
    let isOver = false;
    const result = work({ now: () => nowMs, wait, resource: (places) => resourceOf(places, wait) });
    const end = result.finally(() => (isOver = true));
    end.catch(() => undefined);
    for (;;) {
      // All promises that are ready settle before time moves on.
      await nextTurn();
      if (isOver) return await end;
      const timer = timers.shift();
      if (!timer) throw new Error("the simulation waits for something that never comes");
      if (timer.isCancelled) continue;
      nowMs = timer.at;
      timer.fire();
    }
  } finally {
    Object.assign(globalThis, real);
  }
}

/** Returns the index of the first timer after `at`. */
function placeOf(timers: readonly Timer[], at: number): number {
  let [low, high] = [0, timers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((timers[middle]?.at ?? Infinity) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

function resourceOf(places: number, wait: (ms: number) => Promise<void>) {
  const waiting: (() => void)[] = [];
  let free = places;
  return async (ms: number): Promise<void> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    await wait(ms);
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };
}
