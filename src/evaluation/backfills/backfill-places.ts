// Turns of backfills at looking for events: few look at a time, one of an organization, so that
// long searches of one tenant leave the connections for reads to others.
// Source: docs/evaluators.md, "Backfills"; docs/limits.md.

import { createFairPlaces, type FairPlaces } from "../../base/fair-places.ts";
import { backfillSelectionsMax, backfillSelectionsWaitingMax } from "../../base/limits.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { isOverloaded } from "../chunks/run-event.ts";

/** A search that waits holds a place of the worker among archives and revocations. */
const waitMs = 5_000;
/** A backfill without a turn steps aside for so long, and for up to twice as long. */
const asideMs = 2_000;

export function createBackfillPlaces(): FairPlaces {
  return createFairPlaces({
    max: backfillSelectionsMax,
    orgMax: 1,
    projectMax: 1,
    waitMs,
    waitersMax: backfillSelectionsWaitingMax,
    refusal: "as many backfills look for events as may; try again",
  });
}

/** Looks in the project's turn; returns how long to step aside where there was none in time. */
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
