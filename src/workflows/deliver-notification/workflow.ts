// Delivers a notification: attempts with growing pauses, for three days at most. Started by the
// outbox. Source: docs/alerts.md, "Delivery"; docs/workflows.md, "Alerts".

import { proxyActivities, setHandler, sleep } from "@temporalio/workflow";
import type { DeliverNotificationInput } from "../../outbox/entry.ts";
import { evaluationOptions } from "../activity-options.ts";
import { type Progress, progressQuery } from "../progress.ts";
import type { createDeliverNotificationActivities } from "./activities.ts";

const { attemptDelivery } =
  proxyActivities<ReturnType<typeof createDeliverNotificationActivities>>(evaluationOptions);

/** Returns the final progress: `delivered`, `failed` or `gone`, and the number of attempts. */
export async function deliverNotification(input: DeliverNotificationInput): Promise<Progress> {
  let progress: Progress = { state: "running", done: 0, left: 1, attempts: 0 };
  setHandler(progressQuery, () => progress);
  for (;;) {
    const delivery = await attemptDelivery(input);
    const { attempts } = delivery;
    if (delivery.kind !== "again") {
      progress = { state: delivery.kind, done: 1, left: 0, attempts };
      return progress;
    }
    progress = { state: "waiting", done: 0, left: 1, attempts };
    await sleep(delivery.pauseMs);
  }
}
