// How workflows call activities: tried again until they succeed, since what they do was promised to
// whoever archived or revoked. Imported by workflows, so it does nothing by itself.

import type { ActivityOptions } from "@temporalio/workflow";

const retry = { initialInterval: "1 second", maximumInterval: "1 minute" } as const;

/** For a statement or two; the limit is that of a statement, and some time for a connection. */
export const shortActivity: ActivityOptions = { startToCloseTimeout: "90 seconds", retry };

/** For what takes steps, with heartbeats: a worker that dies is noticed soon. */
export const longActivity: ActivityOptions = {
  startToCloseTimeout: "10 minutes",
  heartbeatTimeout: "15 seconds",
  retry,
};
