// How many evaluators run at a time; the next ones wait their turn, up to bounds. Called by
// sandbox.ts. Source: docs/sandbox.md.

import { ServiceError } from "../../../base/errors.ts";

export type Places = {
  /**
   * Waits for a place. An owner has all but one at most, where there are several. Of those that
   * wait, the owner with the fewest places is next, and the first that came among equals. Fails
   * with OVERLOADED after too long, where too many wait already, or half as many of this owner.
   */
  enter(owner: string, signal?: AbortSignal): Promise<Leave>;
  /** Whether anybody waits. */
  isCrowded(): boolean;
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
  const ownerWaitersMax = Math.ceil(waitersMax / 2);
  const taken: string[] = [];
  const waiters = new Set<Waiter>();

  function countOf(owner: string): number {
    return taken.filter((one) => one === owner).length;
  }

  function hasRoom(owner: string): boolean {
    return taken.length < max && countOf(owner) < ownerMax;
  }

  function hasTooMany(owner: string): boolean {
    const own = [...waiters].filter((one) => one.owner === owner).length;
    return waiters.size >= waitersMax || own >= ownerWaitersMax;
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

  /** In the order in which they came, two projects that keep on coming would leave others none. */
  function admitNext(): void {
    const [next] = [...waiters]
      .filter(({ owner }) => hasRoom(owner))
      .toSorted((a, b) => countOf(a.owner) - countOf(b.owner));
    if (next === undefined) return;
    waiters.delete(next);
    next.admit(take(next.owner));
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
    isCrowded: () => waiters.size > 0,

    async enter(owner, signal) {
      signal?.throwIfAborted();
      // Whoever waits has no room: each that leaves admits the next that has.
      if (hasRoom(owner)) return take(owner);
      if (hasTooMany(owner)) throw overloaded();
      return wait(owner, signal);
    },
  };
}

function overloaded(): ServiceError {
  const message = "as many Python evaluators run as may; try again";
  return new ServiceError("OVERLOADED", message, { retryAfterSeconds: 1 });
}
