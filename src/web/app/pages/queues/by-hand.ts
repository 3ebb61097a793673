// How events come into a queue.

import type { Queue } from "../../../../../gen/waggle/v1/queue_pb.js";

/** Returns whether events come into a queue only as people add them. */
export function isByHand({ enabled, filters }: Queue): boolean {
  return !enabled || (filters?.filterArray.length ?? 0) === 0;
}

export const addByHand = "Add events by hand: select them in Traces, then Add to queue.";
