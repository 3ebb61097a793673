// Waits until no server acts on what it remembers from before a change of access. Called by the
// workflows that revoke keys and archive scopes. Source: docs/decisions.md, 32.

import { proxyActivities } from "@temporalio/workflow";
import { activityOptions } from "../activity-options.ts";
import type { createWaitForServersActivities } from "./activities.ts";

const { confirmChange } =
  proxyActivities<ReturnType<typeof createWaitForServersActivities>>(activityOptions);

/**
 * What a server remembers ages out by itself within a minute, and a lookup under way with it; a
 * server that says nothing for longer needs no waiting for.
 */
const memoryMsMax = 75_000;

/** Returns when every live server has confirmed, or has forgotten by age. */
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
