// Asks for the checks of all alerts whose period has ended. Started by a schedule of Temporal, each
// minute. Source: docs/workflows.md, "Alerts".

import { proxyActivities } from "@temporalio/workflow";
import { activityOptions } from "../activity-options.ts";
import type { createCheckAlertsActivities } from "./activities.ts";

const { startDueAlerts } =
  proxyActivities<ReturnType<typeof createCheckAlertsActivities>>(activityOptions);

/** Returns the number of checks that were asked for. */
export async function checkAlerts(): Promise<number> {
  return startDueAlerts();
}
