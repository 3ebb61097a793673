// How workflows call activities: tried again until they succeed, since what they do was promised to
// whoever archived or revoked. Imported by workflows, so it does nothing by itself.

import { ActivityCancellationType } from "@temporalio/workflow";
import type { ActivityOptions } from "@temporalio/workflow";

export const activityOptions: ActivityOptions = {
  // Each takes seconds; this is for one that hangs.
  startToCloseTimeout: "10 minutes",
  // A worker that dies is noticed soon.
  heartbeatTimeout: "15 seconds",
  retry: { initialInterval: "1 second", maximumInterval: "1 minute" },
};

/** Evaluations wait for a worker here, so that many of them keep nothing else waiting. */
export const evaluationTaskQueue = "waggle-evaluations";

/** For what runs evaluators on events. */
export const evaluationOptions: ActivityOptions = {
  ...activityOptions,
  taskQueue: evaluationTaskQueue,
  // A step takes seconds; the model of a judge may take minutes to answer, several times over.
  startToCloseTimeout: "1 hour",
  // What has run is committed before the rest is given back.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
};
