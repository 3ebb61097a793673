// How workflows call activities: tried again until they succeed, since what they do was promised to
// whoever archived or revoked. Imported by workflows, so it does nothing by itself.

import type { ActivityOptions } from "@temporalio/workflow";

export const activityOptions: ActivityOptions = {
  // Each takes seconds; this is for one that hangs.
  startToCloseTimeout: "10 minutes",
  // A worker that dies is noticed soon.
  heartbeatTimeout: "15 seconds",
  retry: { initialInterval: "1 second", maximumInterval: "1 minute" },
};
