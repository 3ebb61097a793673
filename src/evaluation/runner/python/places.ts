// How many evaluators run at a time; the next ones wait their turn, up to bounds. Called by
// sandbox.ts. Source: docs/sandbox.md.

import { ServiceError } from "../../../base/errors.ts";

export type Places = {
  /** Waits for a place. Fails with OVERLOADED after too long, or where too many wait already. */
  enter(signal?: AbortSignal): Promise<Leave>;
};

/** Gives the place up; only the first time does anything. */
export type Leave = () => void;

export type PlacesOptions = {
  readonly max: number;
  readonly waitMs: number;
  readonly waitersMax: number;
};

type Waiter = { readonly admit: (leave: Leave) => void };

export function createPlaces({ max, waitMs, waitersMax }: PlacesOptions): Places {
  let taken = 0;
  const waiters = new Set<Waiter>();

  function take(): Leave {
    taken += 1;
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      taken -= 1;
      admitNext();
    };
  }

  function admitNext(): void {
    const [next] = waiters;
    if (!next) return;
    waiters.delete(next);
    next.admit(take());
  }

  function wait(signal: AbortSignal | undefined): Promise<Leave> {
    return new Promise((resolve, reject) => {
      const waiter = { admit };
      const timer = setTimeout(() => giveUp(overloaded()), waitMs);
      const abort = () => giveUp(signal?.reason);

      function admit(leave: Leave): void {
        clear();
        resolve(leave);
      }
      function giveUp(reason: unknown): void {
        clear();
        reject(reason as Error);
      }
      function clear(): void {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        waiters.delete(waiter);
      }

      signal?.addEventListener("abort", abort, { once: true });
      waiters.add(waiter);
    });
  }

  return {
    async enter(signal) {
      signal?.throwIfAborted();
      if (taken < max && waiters.size === 0) return take();
      if (waiters.size >= waitersMax) throw overloaded();
      return wait(signal);
    },
  };
}

function overloaded(): ServiceError {
  const message = "as many Python evaluators run as may; try again";
  return new ServiceError("OVERLOADED", message, { retryAfterSeconds: 1 });
}
