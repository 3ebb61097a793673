// Turns of backfills at searching events: few search at a time, one per organization, so that long
// searches of one tenant leave read connections to others.
// Source: docs/evaluators.md, "Backfills"; docs/limits.md.

import { createFairPlaces, type FairPlaces } from "../../base/fair-places.ts";
import { backfillSelectionsMax, backfillSelectionsWaitingMax } from "../../base/limits.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { isOverloaded } from "../scores/run-event.ts";

/**
 * Maximum wait for a turn. A waiting search holds a place of the worker that archives and
 * revocations need too.
 */
const waitMs = 5_000;
/** Minimum pause of a backfill without a turn; the maximum is twice as long. */
const asideMs = 2_000;

export function createSearchTurns(): FairPlaces {
  return createFairPlaces({
    max: backfillSelectionsMax,
    orgMax: 1,
    projectMax: 1,
    waitMs,
    waitersMax: backfillSelectionsWaitingMax,
    refusal: "as many backfills look for events as may; try again",
  });
}

/**
 * Calls `look` in the project's turn. If there is no turn in time, returns the pause before the
 * next attempt.
 */
export async function inTurn<T>(
  places: FairPlaces,
  project: ProjectScope,
  look: () => Promise<T>,
): Promise<T | { readonly kind: "again"; readonly pauseMs: number }> {
  let leave: () => void;
  try {
    leave = await places.enter(project);
  } catch (error) {
    if (!isOverloaded(error)) throw error;
    return { kind: "again", pauseMs: Math.round(asideMs * (1 + Math.random())) };
  }
  try {
    return await look();
  } finally {
    leave();
  }
}
