// Background work: activities of workflows, the relay of the outbox and the dispatcher of
// evaluations. Beside requests in one process it has separate connections and places, so that
// neither takes those of the other. Source: docs/limits.md, "Time and turns in Postgres".

import { AsyncLocalStorage } from "node:async_hooks";

const background = new AsyncLocalStorage<boolean>();

/** Runs `work`, and everything that it begins, as background work. */
export function inBackground<T>(work: () => T): T {
  return background.run(true, work);
}

/** Runs `work` as work of requests, also if background work begins it. */
export function inForeground<T>(work: () => T): T {
  return background.run(false, work);
}

/** Returns whether the current work is background work. */
export function isInBackground(): boolean {
  return background.getStore() ?? false;
}

/** Creates one value for requests and one for background work; the result returns the current. */
export function createForBoth<T>(create: () => T): () => T {
  const ofRequests = create();
  const ofBackground = create();
  return () => (isInBackground() ? ofBackground : ofRequests);
}
