// Options for calling activities: they are retried until they succeed, because the archive or
// revocation was already confirmed. Without side effects, because workflows import this file.

import { ActivityCancellationType, type ActivityOptions } from "@temporalio/workflow";
import { evaluationTaskQueue } from "./task-queues.ts";

export const activityOptions: ActivityOptions = {
  // Activities take seconds; the limit is for one that hangs.
  startToCloseTimeout: "10 minutes",
  // Short, so that the death of a worker is noticed soon.
  heartbeatTimeout: "15 seconds",
  retry: { initialInterval: "1 second", maximumInterval: "1 minute" },
};

/** Options for activities that run evaluators on events. */
export const evaluationOptions: ActivityOptions = {
  ...activityOptions,
  taskQueue: evaluationTaskQueue,
  // A step takes seconds, but a judge's model may take minutes to answer, several times.
  startToCloseTimeout: "1 hour",
  // A cancelled activity first commits the results so far.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
};
