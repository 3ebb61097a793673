// Every activity under the name that workflows use.

import { createArchiveProjectActivities } from "./archive-project/activities.ts";
import type { ArchiveActivitiesOptions } from "./archive-project/activities.ts";
import { createArchiveScopeActivities } from "./archive-scope/activities.ts";
import { createBackfillActivities } from "./backfill/activities.ts";
import { createApplyRetentionActivities } from "./apply-retention/activities.ts";
import { createCheckAlertsActivities } from "./check-alerts/activities.ts";
import { createDeliverNotificationActivities } from "./deliver-notification/activities.ts";
import { createEvaluateAlertActivities } from "./evaluate-alert/activities.ts";
import { createEvaluateChunkActivities } from "./evaluate-chunk/activities.ts";
import { createExecuteRunActivities } from "./execute-run/activities.ts";
import { createRevokeKeyActivities } from "./revoke-key/activities.ts";
import { createWaitForServersActivities } from "./wait-for-servers/activities.ts";

type ActivitiesOptions = ArchiveActivitiesOptions &
  Parameters<typeof createBackfillActivities>[0] &
  Parameters<typeof createApplyRetentionActivities>[0] &
  Parameters<typeof createCheckAlertsActivities>[0] &
  Parameters<typeof createDeliverNotificationActivities>[0] &
  Parameters<typeof createEvaluateAlertActivities>[0] &
  Parameters<typeof createEvaluateChunkActivities>[0] &
  Parameters<typeof createExecuteRunActivities>[0] &
  Parameters<typeof createRevokeKeyActivities>[0] &
  Parameters<typeof createWaitForServersActivities>[0];

export type Activities = ReturnType<typeof createActivities>;

export function createActivities(options: ActivitiesOptions) {
  return {
    ...createArchiveProjectActivities(options),
    ...createArchiveScopeActivities(options),
    ...createBackfillActivities(options),
    ...createApplyRetentionActivities(options),
    ...createCheckAlertsActivities(options),
    ...createDeliverNotificationActivities(options),
    ...createEvaluateAlertActivities(options),
    ...createEvaluateChunkActivities(options),
    ...createExecuteRunActivities(options),
    ...createRevokeKeyActivities(options),
    ...createWaitForServersActivities(options),
  };
}
