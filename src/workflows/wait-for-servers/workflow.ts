// Waits until no server uses cached data from before a change of access.
// Source: docs/decisions.md, 32.

import { proxyActivities } from "@temporalio/workflow";
import { activityOptions } from "../activity-options.ts";
import type { createWaitForServersActivities } from "./activities.ts";

const { confirmChange } =
  proxyActivities<ReturnType<typeof createWaitForServersActivities>>(activityOptions);

/**
 * Upper bound for the age of a server's cache: entries, including those of running lookups, expire
 * within a minute. After this time a silent server needs no wait.
 */
const memoryMsMax = 75_000;

/** Waits until every live server has confirmed the change, or its cache must have expired. */
export async function waitForServers(
  changeId: number,
  onProgress: (confirmation: { live: number; confirmed: number }) => void,
): Promise<void> {
  const deadline = Date.now() + memoryMsMax;
  for (;;) {
    const confirmation = await confirmChange(changeId);
    onProgress(confirmation);
    if (confirmation.confirmed >= confirmation.live || Date.now() > deadline) return;
  }
}
