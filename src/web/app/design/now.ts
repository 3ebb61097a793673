// The time of day, shared by everything that shows an age: one timer for the whole page.

import { useSyncExternalStore } from "react";
import { serviceNow } from "../api/clock.ts";

const tickMs = 10_000;
let nowMs = serviceNow();
const listeners = new Set<() => void>();

setInterval(() => {
  if (listeners.size === 0) return;
  nowMs = serviceNow();
  for (const listener of listeners) listener();
}, tickMs);

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) nowMs = serviceNow();
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns the time in Unix milliseconds, renewed every ten seconds. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => nowMs);
}
