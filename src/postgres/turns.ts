// Turns at a few places, such as the connections of a pool: an owner has only some of them, and
// owners that wait take turns, so that a flood of one delays the others by one piece of work.

import { AsyncLocalStorage } from "node:async_hooks";
import { ServiceError } from "../base/errors.ts";

/** A place that is taken. */
export type Place = {
  /**
   * Counts the place for another owner too, until the work ends: the work includes theirs. Returns
   * false, and counts nothing, if the other owner is at its limit.
   */
  join(owner: string): boolean;
};

export type RunOptions = {
  /** Ends the waiting: its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** Waits without limits of its own, for a queue that has limits for what is in it. */
  readonly isPatient?: boolean;
};

export type Turns = {
  readonly placesPerOwner: number;
  /**
   * Runs `work` when its owner's turn comes; at once where a place is free. Work without an owner
   * has turns as one owner that may take every place. Work inside of work runs in the same place.
   * Throws OVERLOADED, without running it, past the limits of waiting.
   */
  run<T>(
    owner: string | undefined,
    work: (place: Place) => Promise<T>,
    options?: RunOptions,
  ): Promise<T>;
};

export type TurnsOptions = {
  readonly places: number;
  readonly placesPerOwner: number;
  /** Of one owner. */
  readonly waitingMax: number;
  readonly waitMsMax: number;
  /** Name of the work in messages, plural: "reads". */
  readonly what: string;
};

type Waiting = { readonly grant: () => void };

/** Stands for the owner of work that has none; no id is empty. */
const ownerless = "";

export function createTurns(options: TurnsOptions): Turns {
  const { places, placesPerOwner } = options;
  /** Places that each owner has; owners without one are absent. */
  const taken = new Map<string, number>();
  /** In the order of their turns. */
  const queues = new Map<string, Set<Waiting>>();
  const inside = new AsyncLocalStorage<Taken>();
  let free = places;

  const hasRoom = (owner: string): boolean =>
    owner === ownerless || (taken.get(owner) ?? 0) < placesPerOwner;

  function count(owner: string, change: 1 | -1): void {
    const now = (taken.get(owner) ?? 0) + change;
    if (now === 0) taken.delete(owner);
    else taken.set(owner, now);
  }

  function take(owner: string): Taken {
    free -= 1;
    count(owner, 1);
    const owners = [owner];
    let isHeld = true;
    return {
      isHeld: () => isHeld,
      join(other) {
        if (owners.includes(other)) return true;
        if (!hasRoom(other)) return false;
        owners.push(other);
        count(other, 1);
        return true;
      },
      leave() {
        isHeld = false;
        free += 1;
        for (const one of owners) count(one, -1);
        grantNext();
      },
    };
  }

  function grantNext(): void {
    for (const [owner, queue] of queues) {
      if (free === 0) return;
      if (!hasRoom(owner)) continue;
      const [next] = queue;
      queues.delete(owner);
      if (next === undefined) continue;
      queue.delete(next);
      // Behind the other owners.
      if (queue.size > 0) queues.set(owner, queue);
      next.grant();
    }
  }

  async function wait(owner: string, { signal, isPatient = false }: RunOptions): Promise<Taken> {
    signal?.throwIfAborted();
    const queue = queues.get(owner) ?? new Set();
    if (!isPatient && queue.size >= options.waitingMax) throw tooMany(options);
    queues.set(owner, queue);
    const { promise, resolve, reject } = Promise.withResolvers<Taken>();
    const waiting: Waiting = { grant: () => resolve(take(owner)) };
    queue.add(waiting);
    const leave = (error: unknown): void => {
      queue.delete(waiting);
      reject(error);
    };
    const onAbort = (): void => leave(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    const timer = isPatient
      ? undefined
      : setTimeout(() => leave(tooLong(options)), options.waitMsMax);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  async function runIn<T>(place: Taken, work: (place: Place) => Promise<T>): Promise<T> {
    try {
      return await inside.run(place, () => work(place));
    } finally {
      place.leave();
    }
  }

  return {
    placesPerOwner,
    run(given, work, runOptions = {}) {
      const owner = given ?? ownerless;
      const outer = inside.getStore();
      if (outer?.isHeld()) return work(outer);
      if (free > 0 && hasRoom(owner)) return runIn(take(owner), work);
      return wait(owner, runOptions).then((place) => runIn(place, work));
    },
  };
}

type Taken = Place & {
  /** False once the work has ended: what it left running has no place any more. */
  isHeld(): boolean;
  leave(): void;
};

function tooMany({ what, waitingMax }: TurnsOptions): ServiceError {
  return new ServiceError("OVERLOADED", `${waitingMax} ${what} of the project wait; try again`);
}

function tooLong({ what, placesPerOwner, waitMsMax }: TurnsOptions): ServiceError {
  return new ServiceError(
    "OVERLOADED",
    `the project has ${placesPerOwner} ${what} at a time, and none ended in ${waitMsMax} ms`,
  );
}
