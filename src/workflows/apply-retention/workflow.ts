// Deletes the sessions that a project keeps no longer, batch by batch. Started through the outbox.
// Source: docs/workflows.md, "Retention".

import { continueAsNew, proxyActivities, setHandler, workflowInfo } from "@temporalio/workflow";
import type { ApplyRetentionInput } from "../../outbox/entry.ts";
import { activityOptions } from "../activity-options.ts";
import { type Progress, progressQuery } from "../progress.ts";
import type { createApplyRetentionActivities } from "./activities.ts";

const { deleteRetentionBatch } =
  proxyActivities<ReturnType<typeof createApplyRetentionActivities>>(activityOptions);

/** Returns the final progress: `done` is the number of deleted events. */
export async function applyRetention(input: ApplyRetentionInput): Promise<Progress> {
  let progress: Progress = { state: "running", done: 0, left: 0, sessions: 0 };
  setHandler(progressQuery, () => progress);
  for (;;) {
    const { isDone, sessions, events } = await deleteRetentionBatch(input);
    progress = { state: isDone ? "done" : "running", done: events, left: 0, sessions };
    if (isDone) return progress;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof applyRetention>(input);
  }
}
