// How many evaluators run at a time; the next ones wait their turn, up to bounds. Called by
// sandbox.ts. Source: docs/sandbox.md.

import { ServiceError } from "../../../base/errors.ts";

export type Places = {
  /**
   * Waits for a place. Of an owner there are all but one at most, where there are several, and
   * those that wait are admitted in the order in which they came, past owners that have theirs.
   * Fails with OVERLOADED after too long, or where too many wait already.
   */
  enter(owner: string, signal?: AbortSignal): Promise<Leave>;
};

/** Gives the place up; only the first time does anything. */
export type Leave = () => void;

export type PlacesOptions = {
  readonly max: number;
  readonly waitMs: number;
  readonly waitersMax: number;
};

type Waiter = { readonly owner: string; readonly admit: (leave: Leave) => void };

export function createPlaces({ max, waitMs, waitersMax }: PlacesOptions): Places {
  const ownerMax = Math.max(1, max - 1);
  const taken: string[] = [];
  const waiters = new Set<Waiter>();

  function hasRoom(owner: string): boolean {
    return taken.length < max && taken.filter((one) => one === owner).length < ownerMax;
  }

  function take(owner: string): Leave {
    taken.push(owner);
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      taken.splice(taken.indexOf(owner), 1);
      admitNext();
    };
  }

  function admitNext(): void {
    for (const next of waiters) {
      if (!hasRoom(next.owner)) continue;
      waiters.delete(next);
      next.admit(take(next.owner));
      return;
    }
  }

  function wait(owner: string, signal: AbortSignal | undefined): Promise<Leave> {
    return new Promise((resolve, reject) => {
      const waiter = { owner, admit };
      const timer = setTimeout(() => giveUp(overloaded()), waitMs);
      const abort = () => giveUp(signal?.reason as Error);

      function admit(leave: Leave): void {
        clear();
        resolve(leave);
      }
      function giveUp(reason: Error): void {
        clear();
        reject(reason);
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
    async enter(owner, signal) {
      signal?.throwIfAborted();
      // Whoever waits has no room: each that leaves admits the next that has.
      if (hasRoom(owner)) return take(owner);
      if (waiters.size >= waitersMax) throw overloaded();
      return wait(owner, signal);
    },
  };
}

function overloaded(): ServiceError {
  const message = "as many Python evaluators run as may; try again";
  return new ServiceError("OVERLOADED", message, { retryAfterSeconds: 1 });
}
