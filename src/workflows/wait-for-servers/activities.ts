// Asks how many servers have heard of a change of access. Called by workflow.ts through Temporal.

import { setTimeout as delay } from "node:timers/promises";
import type { AccessChanges, Confirmation } from "../../access/changes/changes.ts";
import { stopSignal, toActivities } from "../activity.ts";

/** Servers answer a notification in milliseconds. */
const pollMs = 200;
/** Then the workflow is told, so that its progress can be asked for. */
const answerMs = 5_000;

export function createWaitForServersActivities({
  changes,
}: {
  readonly changes: Pick<AccessChanges, "confirmedBy">;
}) {
  return toActivities({
    /** Waits a while until every live server has confirmed a change; returns how many have. */
    async confirmChange(changeId: number): Promise<Confirmation> {
      const deadline = Date.now() + answerMs;
      for (;;) {
        const confirmation = await changes.confirmedBy(changeId);
        const isDone = confirmation.confirmed >= confirmation.live;
        if (isDone || Date.now() > deadline) return confirmation;
        await delay(pollMs, undefined, { signal: stopSignal() });
      }
    },
  });
}
