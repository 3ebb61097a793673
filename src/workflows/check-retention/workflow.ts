// Asks for the deletions of all projects that have one due. Started by a schedule of Temporal, each
// hour. Source: docs/workflows.md, "Retention".

import { proxyActivities } from "@temporalio/workflow";
import { activityOptions } from "../activity-options.ts";
import type { createApplyRetentionActivities } from "../apply-retention/activities.ts";

const { startDueRetention } =
  proxyActivities<ReturnType<typeof createApplyRetentionActivities>>(activityOptions);

/** Returns the number of deletions that were asked for. */
export async function checkRetention(): Promise<number> {
  return startDueRetention();
}
