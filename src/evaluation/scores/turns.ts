// Turns of work that shares a bounded number of places: a workflow's step that gets none in time
// comes again later, so that the steps of other tenants reach a worker first.
// Source: docs/evaluators.md, "Under load".

import type { FairPlaces, Owner } from "../../base/fair-places.ts";
import { isOverloaded } from "./run-event.ts";

/** Minimum pause of work without a place; the maximum is twice as long. */
const pauseMsMin = 2_000;

/** The work was not done; it should be tried again after a pause. */
export type Later = { readonly kind: "again"; readonly pauseMs: number };

/** Does work in a place of its owner. */
export async function inTurn<T>(
  places: FairPlaces,
  { owner, signal }: { readonly owner: Owner; readonly signal?: AbortSignal },
  work: () => Promise<T>,
): Promise<T | Later> {
  let leave: () => void;
  try {
    leave = await places.enter(owner, signal);
  } catch (error) {
    if (!isOverloaded(error)) throw error;
    return { kind: "again", pauseMs: Math.round(pauseMsMin * (1 + Math.random())) };
  }
  try {
    return await work();
  } finally {
    leave();
  }
}
