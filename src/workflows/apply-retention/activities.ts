// Activities of retention.

import type { ApplyRetentionInput } from "../../outbox/entry.ts";
import type { Deletion, RetentionStep } from "../../tracing/retention/deletion.ts";
import { stopSignal, toActivities } from "../activity.ts";

export function createApplyRetentionActivities({ deletion }: { readonly deletion: Deletion }) {
  return toActivities({
    /** Asks for the deletions that are due. */
    startDueRetention: (): Promise<number> => deletion.startDue(),

    /** Deletes the next batch of a run, and adds it to the report. */
    deleteRetentionBatch: (input: ApplyRetentionInput): Promise<RetentionStep> =>
      deletion.step(input, stopSignal()),
  });
}
