// The schedules of Temporal, under which work for all projects begins by the clock. Made, or made
// anew, by every worker that reaches Temporal; one that an operator has paused stays paused.

import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from "@temporalio/client";
import type { ScheduledWorkflowType } from "../outbox/entry.ts";
import { taskQueue } from "./task-queues.ts";

type Schedule = {
  readonly id: string;
  readonly workflowType: ScheduledWorkflowType;
  readonly every: "1 minute" | "1 hour";
  readonly note: string;
};

const schedules: readonly Schedule[] = [
  {
    id: "waggle-alerts",
    workflowType: "checkAlerts",
    every: "1 minute",
    note: "Asks for the check of every alert whose hour, day, week or month has ended.",
  },
  {
    id: "waggle-retention",
    workflowType: "checkRetention",
    every: "1 hour",
    note: "Asks for the daily deletion of the sessions that projects keep no longer.",
  },
];

/** Creates the schedules of a namespace, or brings those of an earlier release up to date. */
export async function ensureSchedules({
  schedule: client,
}: Pick<Client, "schedule">): Promise<void> {
  for (const { id, workflowType, every, note } of schedules) {
    const wanted = {
      action: {
        type: "startWorkflow" as const,
        workflowType,
        workflowId: id,
        taskQueue,
        staticDetails: note,
      },
      spec: { intervals: [{ every }] },
      // A run does all that is due, so a missed run is not made up for.
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: "1 minute" as const },
    };
    try {
      await client.create({ scheduleId: id, ...wanted, state: { note } });
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      await client.getHandle(id).update(({ state }) => ({ ...wanted, state }));
    }
  }
}
