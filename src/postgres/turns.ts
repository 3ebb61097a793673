// Turns at a few places, such as the connections of a pool. An owner (a project) and all owners of
// an organization together may hold a limited number. Waiting owners take turns, so that a flood
// from one owner delays each of the others by one piece of work.

import { AsyncLocalStorage } from "node:async_hooks";
import { ServiceError } from "../base/errors.ts";

/** A taken place. */
export type Place = {
  /**
   * Counts the place for another owner and its organization too, until the work ends, because the
   * work includes theirs. Returns false, and counts nothing, if one of them is at its limit.
   */
  join(owner: string, organization?: string): boolean;
};

export type RunOptions = {
  /** Organization of the owner; absent if unknown. */
  readonly organization?: string | undefined;
  /** Aborting it ends the wait, which throws its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Whether to wait without limits, for a queue that limits its own contents. */
  readonly isPatient?: boolean;
};

export type Turns = {
  readonly placesPerOwner: number;
  /**
   * Runs `work` on its owner's turn; at once if a place is free. Work without an owner takes turns
   * as one owner that may take every place. Nested work runs in the same place. Throws OVERLOADED,
   * without running `work`, past the limits of waiting.
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
  /** Places of all owners of one organization. Default: all places. */
  readonly placesPerOrganization?: number;
  /** Maximum waiting works of one owner. */
  readonly waitingMax: number;
  readonly waitMsMax: number;
  /** Name of the work in messages, plural: "reads". */
  readonly what: string;
};

/** Waiting work of one owner. */
type Waiting = { readonly organization: string | undefined; readonly grant: () => void };

/** Owner and organization of work. */
type Holder = { readonly owner: string; readonly organization: string | undefined };

/** Key of work without an owner; no id is empty. */
const ownerless = "";

export function createTurns(options: TurnsOptions): Turns {
  const { places, placesPerOwner, placesPerOrganization = places } = options;
  const taken = createCounts();
  const takenByOrganization = createCounts();
  /** Queues by owner, in the order of their turns. */
  const queues = new Map<string, Set<Waiting>>();
  const inside = new AsyncLocalStorage<Taken>();
  let free = places;

  const hasRoom = ({ owner, organization }: Holder): boolean =>
    owner === ownerless ||
    (taken.of(owner) < placesPerOwner &&
      (organization === undefined || takenByOrganization.of(organization) < placesPerOrganization));

  function take(first: Holder): Taken {
    const owners = new Set<string>();
    const organizations = new Set<string>();
    let isHeld = true;

    function count({ owner, organization }: Holder): void {
      if (!owners.has(owner)) taken.add(owner, 1);
      owners.add(owner);
      if (organization === undefined || organizations.has(organization)) return;
      takenByOrganization.add(organization, 1);
      organizations.add(organization);
    }

    free -= 1;
    count(first);
    return {
      isHeld: () => isHeld,
      join(owner, given) {
        if (owners.has(owner)) return true;
        const isCounted = given !== undefined && organizations.has(given);
        const other = { owner, organization: isCounted ? undefined : given };
        if (!hasRoom(other)) return false;
        count(other);
        return true;
      },
      leave() {
        isHeld = false;
        free += 1;
        for (const owner of owners) taken.add(owner, -1);
        for (const organization of organizations) takenByOrganization.add(organization, -1);
        grantNext();
      },
    };
  }

  function grantNext(): void {
    for (const [owner, queue] of queues) {
      if (free === 0) return;
      const [next] = queue;
      if (next && !hasRoom({ owner, organization: next.organization })) continue;
      queues.delete(owner);
      if (next === undefined) continue;
      queue.delete(next);
      // Reinserted at the end, behind the other owners.
      if (queue.size > 0) queues.set(owner, queue);
      next.grant();
    }
  }

  async function wait(holder: Holder, { signal, isPatient = false }: RunOptions): Promise<Taken> {
    signal?.throwIfAborted();
    const { owner, organization } = holder;
    const queue = queues.get(owner) ?? new Set();
    if (!isPatient && queue.size >= options.waitingMax) throw tooMany(options);
    queues.set(owner, queue);
    const { promise, resolve, reject } = Promise.withResolvers<Taken>();
    const waiting: Waiting = { organization, grant: () => resolve(take(holder)) };
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
      const holder = { owner: given ?? ownerless, organization: runOptions.organization };
      const outer = inside.getStore();
      if (outer?.isHeld()) return work(outer);
      if (free > 0 && hasRoom(holder)) return runIn(take(holder), work);
      return wait(holder, runOptions).then((place) => runIn(place, work));
    },
  };
}

/** Returns counts by name; a name with count 0 takes no memory. */
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
  /** Returns false after the work has ended: work that it left running no longer has a place. */
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
