// A bounded number of concurrent places that organizations share. The others wait for their turn,
// organization by organization, then project by project. Source: docs/sandbox.md, "Places";
// docs/evaluators.md, "Under load".

import { ServiceError } from "./errors.ts";

/** Organization and project of a unit of work. */
export type Owner = { readonly orgId: string; readonly projectId: string };

export type FairPlaces = {
  /**
   * Waits for a place. The next place goes to the waiting organization that holds the fewest
   * places, and among equals to the one with the oldest turn; the same holds for the projects
   * inside it. Fails with OVERLOADED after `waitMs` or if too many wait, and with the signal's
   * reason if the signal aborts.
   */
  enter(owner: Owner, signal?: AbortSignal): Promise<Leave>;
  /** Returns true if work is waiting for a place. */
  isCrowded(): boolean;
};

/** Gives the place back. A second call does nothing. */
export type Leave = () => void;

export type FairPlacesOptions = {
  /** Maximum places in all. */
  readonly max: number;
  /** Maximum places of one organization; the others stay free for the next organization. */
  readonly orgMax: number;
  /** Maximum places of one project. */
  readonly projectMax: number;
  /** Maximum waiting time. */
  readonly waitMs: number;
  /**
   * Maximum waiting works in all. Past it the tenant with the most waiting works loses its newest
   * one, so that no tenant is refused because of another one.
   */
  readonly waitersMax: number;
  /** Message of OVERLOADED. */
  readonly refusal: string;
};

type Waiter = {
  readonly owner: Owner;
  readonly admit: (leave: Leave) => void;
  readonly refuse: (reason: Error) => void;
};

export function createFairPlaces(options: FairPlacesOptions): FairPlaces {
  const { max, orgMax, projectMax, waitMs, waitersMax, refusal } = options;
  /** Number of places taken, by the id of an organization or a project. */
  const held = new Map<string, number>();
  /**
   * Last turn of an id, as a number in order: when it last got a place or, before that, began to
   * wait.
   */
  const turns = new Map<string, number>();
  let moments = 0;
  let taken = 0;
  /** Waiting works, the oldest first. */
  let waiters: readonly Waiter[] = [];

  const heldBy = (id: string): number => held.get(id) ?? 0;
  const turnOf = (id: string): number => turns.get(id) ?? 0;
  const hasRoom = ({ orgId, projectId }: Owner): boolean =>
    taken < max && heldBy(orgId) < orgMax && heldBy(projectId) < projectMax;

  function addHeld(owner: Owner, change: 1 | -1): void {
    taken += change;
    for (const id of idsOf(owner)) held.set(id, heldBy(id) + change);
  }

  function noteTurn(id: string): void {
    moments += 1;
    turns.set(id, moments);
  }

  /** Removes the counts of tenants that neither hold a place nor wait for one. */
  function forget(owner: Owner): void {
    for (const id of idsOf(owner)) {
      if (heldBy(id) > 0 || waiters.some((one) => idsOf(one.owner).includes(id))) continue;
      held.delete(id);
      turns.delete(id);
    }
  }

  function take(owner: Owner): Leave {
    addHeld(owner, 1);
    idsOf(owner).forEach(noteTurn);
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      addHeld(owner, -1);
      forget(owner);
      admitNext();
    };
  }

  function admitNext(): void {
    const ranks = waiters
      .filter(({ owner }) => hasRoom(owner))
      .map((waiter) => {
        const { orgId, projectId } = waiter.owner;
        const ofOrg = [heldBy(orgId), turnOf(orgId)];
        return { waiter, rank: [...ofOrg, heldBy(projectId), turnOf(projectId)] };
      });
    const [next] = ranks.toSorted((a, b) => compare(a.rank, b.rank));
    if (!next) return;
    remove(next.waiter);
    next.waiter.admit(take(next.waiter.owner));
  }

  function remove(waiter: Waiter): void {
    waiters = waiters.filter((one) => one !== waiter);
  }

  /**
   * Refuses the newest waiting work of the tenant with the most, the new work of `owner` included.
   */
  function makeRoomFor(owner: Owner): void {
    if (waiters.length < waitersMax) return;
    const refuse = (reason: Error): never => {
      throw reason;
    };
    const newestFirst = [{ owner, refuse }, ...waiters.toReversed()];
    const ofOrg = largest(Map.groupBy(newestFirst, (one) => one.owner.orgId));
    const ofProject = largest(Map.groupBy(ofOrg, (one) => one.owner.projectId));
    ofProject[0]?.refuse(overloaded(refusal));
  }

  function wait(owner: Owner, signal: AbortSignal | undefined): Promise<Leave> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => refuse(overloaded(refusal)), waitMs);
      const onAbort = (): void => refuse(signal?.reason as Error);
      const waiter: Waiter = { owner, admit, refuse };

      function admit(leave: Leave): void {
        clear();
        resolve(leave);
      }
      function refuse(reason: Error): void {
        clear();
        remove(waiter);
        forget(owner);
        reject(reason);
      }
      function clear(): void {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
      }

      signal?.addEventListener("abort", onAbort, { once: true });
      waiters = [...waiters, waiter];
      for (const id of idsOf(owner)) if (!turns.has(id)) noteTurn(id);
    });
  }

  return {
    isCrowded: () => waiters.length > 0,

    async enter(owner, signal) {
      signal?.throwIfAborted();
      // No waiter has room now: each work that leaves has admitted one that did.
      if (hasRoom(owner)) return take(owner);
      makeRoomFor(owner);
      return wait(owner, signal);
    },
  };
}

function idsOf({ orgId, projectId }: Owner): readonly string[] {
  return [orgId, projectId];
}

/** Returns the largest group, the first if several are equal. */
function largest<T>(groups: ReadonlyMap<string, readonly T[]>): readonly T[] {
  return [...groups.values()].toSorted((a, b) => b.length - a.length)[0] ?? [];
}

/** Compares lists of equal length by their first different number. */
function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((number, index) => number !== b[index]);
  return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}

function overloaded(refusal: string): ServiceError {
  return new ServiceError("OVERLOADED", refusal, { retryAfterSeconds: 1 });
}
