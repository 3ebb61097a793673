// Runs waiting work by organization: each separately, a bounded number of them concurrently, so
// that a slow organization delays others only briefly.
// Source: docs/evaluators.md, "Under load".

import { createFairPlaces } from "../../base/fair-places.ts";
import { setTimeout as delay } from "node:timers/promises";

/** A piece of work of an organization. */
export type OrgWork = {
  readonly orgId: string;
  /** Never fails. */
  readonly run: () => Promise<void>;
};

export type OrgLanes = {
  /**
   * Runs works, those of one organization one after another, in any order. Resolves when all have
   * ended, or after `waitMs` if given, while the others continue. Skips organizations that are
   * still running from an earlier call, and the rest of an organization whose time is over.
   */
  run(works: readonly OrgWork[], waitMs?: number): Promise<void>;
  /** Resolves when nothing runs. */
  idle(): Promise<void>;
};

export type OrgLanesOptions = {
  /** Maximum organizations served concurrently. */
  readonly max: number;
  /** Time after which no further work of an organization begins in a call. */
  readonly orgMsMax: number;
};

/** Maximum wait of an organization for a lane; its work is then left for the next call. */
const laneWaitMs = 60_000;
const waitersMax = 1_000;
const unref = { ref: false };

export function createOrgLanes({ max, orgMsMax }: OrgLanesOptions): OrgLanes {
  const lanes = createFairPlaces({
    max,
    orgMax: 1,
    projectMax: 1,
    waitMs: laneWaitMs,
    waitersMax,
    refusal: "too many organizations wait",
  });
  const running = new Map<string, Promise<void>>();

  async function workFor(orgId: string, works: readonly OrgWork[]): Promise<void> {
    const leave = await lanes.enter({ orgId, projectId: orgId }).catch(() => undefined);
    if (!leave) return;
    const until = Date.now() + orgMsMax;
    try {
      // The order is random, so that the same work does not run out of time in each round.
      for (const work of shuffle(works)) {
        await work.run();
        if (Date.now() > until) return;
      }
    } finally {
      leave();
    }
  }

  return {
    async run(works, waitMs) {
      const begun: Promise<void>[] = [];
      for (const [orgId, own] of Map.groupBy(works, (work) => work.orgId)) {
        if (running.has(orgId)) continue;
        const working = workFor(orgId, own).finally(() => running.delete(orgId));
        running.set(orgId, working);
        begun.push(working);
      }
      const all = Promise.all(begun);
      await (waitMs === undefined ? all : Promise.race([all, delay(waitMs, undefined, unref)]));
    },

    async idle() {
      await Promise.all(running.values());
    },
  };
}

function shuffle<T>(items: readonly T[]): readonly T[] {
  const ranked = items.map((item) => ({ item, rank: Math.random() }));
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ item }) => item);
}
