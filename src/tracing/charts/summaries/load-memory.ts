// Memory of the summaries that a chart reads: it counts as memory of the call, and few charts read
// many of them at once. Source: docs/charts.md, "Speed"; docs/decisions.md, 47.5.

import type { Reservation } from "../../../base/byte-budget.ts";
import { createFairPlaces, type Leave } from "../../../base/fair-places.ts";
import {
  chartCellBytes,
  chartCellsMax,
  chartLoadsMax,
  chartLoadsOfProjectMax,
  chartLoadWaitMsMax,
  chartUsualCells,
} from "../../../base/tenant-limits.ts";

/** Memory that one chart holds. */
export type Hold = {
  /** Throws OVERLOADED if there is no room. */
  grow(bytes: number): void;
  /** Gives back bytes that were reserved and never used. */
  giveBack(bytes: number): void;
  /** Gives everything back. */
  release(): void;
};

/** Returns a part of a call's memory that can be given back before the call ends. */
export function holdIn(memory: Reservation): Hold {
  let own = 0;
  return {
    grow(bytes) {
      memory.grow(bytes);
      own += bytes;
    },
    giveBack(bytes) {
      memory.giveBack(bytes);
      own -= bytes;
    },
    release() {
      memory.shrink(own);
      own = 0;
    },
  };
}

/** Returns how many cells a call may read at once: at most those that fill half of its memory. */
export function cellsMaxOf({ bytesMax }: Reservation): number {
  return Math.min(chartCellsMax, Math.floor(bytesMax / 2 / chartCellBytes));
}

/** Returns how many cells to expect of hours that changed, where the others are in memory. */
export function expectedCells(lastCells: number): number {
  return Math.max(chartUsualCells, 2 * lastCells);
}

export type Places = {
  /** Waits until so many cells may be read. */
  enter(tenant: Tenant, cells: number): Promise<Leave>;
};

export type Tenant = {
  readonly projectId: string;
  readonly organization: string | undefined;
  readonly signal: AbortSignal | undefined;
};

export function createLoadPlaces(): Places {
  const places = createFairPlaces({
    max: chartLoadsMax,
    orgMax: chartLoadsMax - 1,
    projectMax: chartLoadsOfProjectMax,
    waitMs: chartLoadWaitMsMax,
    waitersMax: 1_000,
    refusal: "too many charts read many events for the first time; try again",
  });
  return {
    async enter({ projectId, organization, signal }, cells) {
      if (cells <= chartUsualCells) return () => undefined;
      return places.enter({ orgId: organization ?? projectId, projectId }, signal);
    },
  };
}
