// Places of model calls that can wait, of judges and of experiment runs: a call waits for its turn
// among its kind, then among the model calls of its project.
// Source: docs/evaluators.md, "Under load"; docs/experiments.md.

import { setTimeout as delay } from "node:timers/promises";
import { createForBoth } from "../../base/background.ts";
import { createFairPlaces, type FairPlaces, type Owner } from "../../base/fair-places.ts";
import { judgeCallsMax, judgeCallsWaitingMax } from "../../base/limits.ts";
import { judgeWaitMsMax } from "../../base/tenant-limits.ts";
import type { Concurrency, Release } from "./concurrency.ts";

export type WaitingPlaces = {
  readonly concurrency: Concurrency;
  /** Places of the calls of this kind. */
  readonly places: FairPlaces;
};

export type Entering = {
  readonly owner: Owner;
  /** Number of concurrent calls to a provider. */
  readonly count: number;
  readonly signal: AbortSignal;
};

const turnPauseMs = 100;

/**
 * Creates the places of the calls of one kind, separate ones for requests and background work. An
 * organization gets at most three quarters, so that others find a place; a project at most half,
 * within its maximum of model calls.
 */
export function createWaitingPlaces(
  kind: string,
  projectCallsMax: number,
  max = judgeCallsMax,
): FairPlaces {
  const placesNow = createForBoth(() =>
    createFairPlaces({
      max,
      orgMax: Math.ceil((max * 3) / 4),
      projectMax: Math.min(Math.ceil(max / 2), projectCallsMax),
      waitMs: judgeWaitMsMax,
      waitersMax: judgeCallsWaitingMax,
      refusal: `the maximum number of concurrent ${kind} calls is reached; try again`,
    }),
  );
  return {
    enter: (...given) => placesNow().enter(...given),
    isCrowded: () => placesNow().isCrowded(),
  };
}

/** Waits for a place. Fails with OVERLOADED after a time, and with the reason of the signal. */
export async function enterWaiting(
  { places, concurrency }: WaitingPlaces,
  { owner, count, signal }: Entering,
): Promise<Release> {
  const leave = await places.enter(owner, signal);
  try {
    const release = await enterCalls(concurrency, { owner, count, signal });
    return () => {
      release();
      leave();
    };
  } catch (error) {
    leave();
    throw error;
  }
}

async function enterCalls(
  concurrency: Concurrency,
  { owner, count, signal }: Entering,
): Promise<Release> {
  const untilMs = performance.now() + judgeWaitMsMax;
  for (;;) {
    signal.throwIfAborted();
    try {
      return concurrency.enter(owner, count);
    } catch (error) {
      if (performance.now() > untilMs) throw error;
    }
    await delay(turnPauseMs, undefined, { signal });
  }
}
