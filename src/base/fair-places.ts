// Places that organizations share: a bounded number of works run at a time, and the others wait for
// their turn, organization by organization, then project by project inside one.
// Source: docs/sandbox.md, "Places"; docs/evaluators.md, "Under load".

import { ServiceError } from "./errors.ts";

/** The organization and the project that a work belongs to. */
export type Owner = { readonly orgId: string; readonly projectId: string };

export type FairPlaces = {
  /**
   * Waits for a place. The next one goes to the waiting organization that has the fewest places,
   * and among equals to the one whose turn is the longest ago; inside it the same holds for its
   * projects. Fails with OVERLOADED after too long, or where too many wait, and with the signal's
   * reason once that is aborted.
   */
  enter(owner: Owner, signal?: AbortSignal): Promise<Leave>;
  /** Whether a work waits. */
  isCrowded(): boolean;
};

/** Gives the place back; a second call does nothing. */
export type Leave = () => void;

export type FairPlacesOptions = {
  /** Places in all. */
  readonly max: number;
  /** Places of one organization; the others stay free for the next one. */
  readonly orgMax: number;
  /** Places of one project. */
  readonly projectMax: number;
  /** Longest wait. */
  readonly waitMs: number;
  /**
   * Works that wait, in all. Past it the tenant with the most loses its newest one, so that no
   * tenant is refused because of another one.
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
  /** Places taken, by the id of an organization or a project. */
  const held = new Map<string, number>();
  /** When an id got its last place, or began to wait, as a count of such moments. */
  const turns = new Map<string, number>();
  let moments = 0;
  let taken = 0;
  /** The first came first. */
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

  /** Keeps nothing of tenants that neither have a place nor wait for one. */
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

  /** Refuses the newest work of the tenant with the most waiting, the new one of `owner` too. */
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
      // No waiter has room: each work that leaves lets one in that has.
      if (hasRoom(owner)) return take(owner);
      makeRoomFor(owner);
      return wait(owner, signal);
    },
  };
}

function idsOf({ orgId, projectId }: Owner): readonly string[] {
  return [orgId, projectId];
}

/** Returns the largest group, the first of several. */
function largest<T>(groups: ReadonlyMap<string, readonly T[]>): readonly T[] {
  return [...groups.values()].toSorted((a, b) => b.length - a.length)[0] ?? [];
}

/** Compares lists of numbers of one length, the first number first. */
function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((number, index) => number !== b[index]);
  return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}

function overloaded(refusal: string): ServiceError {
  return new ServiceError("OVERLOADED", refusal, { retryAfterSeconds: 1 });
}
