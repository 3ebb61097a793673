// Activity that counts the servers that have confirmed a change of access.

import { setTimeout as delay } from "node:timers/promises";
import type { AccessChanges, Confirmation } from "../../access/changes/changes.ts";
import { stopSignal, toActivities } from "../activity.ts";

/** Servers confirm a notification within milliseconds. */
const pollMs = 200;
/** Time after which the activity returns, so that the workflow can report its progress. */
const answerMs = 5_000;

export function createWaitForServersActivities({
  changes,
}: {
  readonly changes: Pick<AccessChanges, "confirmedBy">;
}) {
  return toActivities({
    /** Waits for a limited time until every live server has confirmed a change; returns counts. */
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
