// Turns at a few places, such as the connections of a pool. One owner (a project) may hold some of
// them, and so may all owners of one organization. Owners that wait take turns, so that a flood of
// one delays the others by one piece of work.

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
  /** Organization of the owner; absent where it is not known. */
  readonly organization?: string | undefined;
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
  /** Of all owners of one organization. Default: all places. */
  readonly placesPerOrganization?: number;
  /** Of one owner. */
  readonly waitingMax: number;
  readonly waitMsMax: number;
  /** Name of the work in messages, plural: "reads". */
  readonly what: string;
};

type Waiting = { readonly grant: () => void };

/** Whose place it is. */
type Holder = { readonly owner: string; readonly organization: string | undefined };

/** Waiting work of one owner, in the order in which it came. */
type Queue = { readonly organization: string | undefined; readonly waiting: Set<Waiting> };

/** Stands for the owner of work that has none; no id is empty. */
const ownerless = "";

export function createTurns(options: TurnsOptions): Turns {
  const { places, placesPerOwner, placesPerOrganization = places } = options;
  const taken = createCounts();
  const takenByOrganization = createCounts();
  /** By owner, in the order of their turns. */
  const queues = new Map<string, Queue>();
  const inside = new AsyncLocalStorage<Taken>();
  let free = places;

  const hasRoom = ({ owner, organization }: Holder): boolean =>
    owner === ownerless ||
    (taken.of(owner) < placesPerOwner &&
      (organization === undefined || takenByOrganization.of(organization) < placesPerOrganization));

  function take({ owner, organization }: Holder): Taken {
    free -= 1;
    taken.add(owner, 1);
    if (organization !== undefined) takenByOrganization.add(organization, 1);
    const owners = [owner];
    let isHeld = true;
    return {
      isHeld: () => isHeld,
      join(other) {
        if (owners.includes(other)) return true;
        if (!hasRoom({ owner: other, organization: undefined })) return false;
        owners.push(other);
        taken.add(other, 1);
        return true;
      },
      leave() {
        isHeld = false;
        free += 1;
        for (const one of owners) taken.add(one, -1);
        if (organization !== undefined) takenByOrganization.add(organization, -1);
        grantNext();
      },
    };
  }

  function grantNext(): void {
    for (const [owner, queue] of queues) {
      if (free === 0) return;
      if (!hasRoom({ owner, organization: queue.organization })) continue;
      const [next] = queue.waiting;
      queues.delete(owner);
      if (next === undefined) continue;
      queue.waiting.delete(next);
      // Behind the other owners.
      if (queue.waiting.size > 0) queues.set(owner, queue);
      next.grant();
    }
  }

  async function wait(holder: Holder, { signal, isPatient = false }: RunOptions): Promise<Taken> {
    signal?.throwIfAborted();
    const { owner, organization } = holder;
    const queue = queues.get(owner) ?? { organization, waiting: new Set() };
    if (!isPatient && queue.waiting.size >= options.waitingMax) throw tooMany(options);
    queues.set(owner, queue);
    const { promise, resolve, reject } = Promise.withResolvers<Taken>();
    const waiting: Waiting = { grant: () => resolve(take(holder)) };
    queue.waiting.add(waiting);
    const leave = (error: unknown): void => {
      queue.waiting.delete(waiting);
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
      const holder = { owner: given ?? ownerless, organization: runOptions.organization };
      const outer = inside.getStore();
      if (outer?.isHeld()) return work(outer);
      if (free > 0 && hasRoom(holder)) return runIn(take(holder), work);
      return wait(holder, runOptions).then((place) => runIn(place, work));
    },
  };
}

/** Returns counts by name; a name with none takes no memory. */
function createCounts() {
  const counts = new Map<string, number>();
  const of = (name: string): number => counts.get(name) ?? 0;
  return {
    of,
    add(name: string, change: 1 | -1): void {
      const now = of(name) + change;
      if (now === 0) counts.delete(name);
      else counts.set(name, now);
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

function tooLong(options: TurnsOptions): ServiceError {
  const { what, places, placesPerOwner, placesPerOrganization = places, waitMsMax } = options;
  return new ServiceError(
    "OVERLOADED",
    `the project has ${placesPerOwner} ${what} at a time, its organization ` +
      `${placesPerOrganization}, and none ended in ${waitMsMax} ms`,
  );
}
