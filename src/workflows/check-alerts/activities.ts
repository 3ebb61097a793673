// Activities of the schedule of alerts.

import type { AlertChecks } from "../../tracing/alerts/evaluate.ts";
import { toActivities } from "../activity.ts";

export function createCheckAlertsActivities({
  alertChecks,
}: {
  readonly alertChecks: Pick<AlertChecks, "startDue">;
}) {
  return toActivities({
    /** Asks for the check of every period that has ended. */
    startDueAlerts: (): Promise<number> => alertChecks.startDue(),
  });
}
