// Activities of the delivery of a notification.

import type { Delivery, Notifications } from "../../notifications/notifications.ts";
import type { DeliverNotificationInput } from "../../outbox/entry.ts";
import { toActivities } from "../activity.ts";

export function createDeliverNotificationActivities({
  notifications,
}: {
  readonly notifications: Pick<Notifications, "attempt">;
}) {
  return toActivities({
    /** Makes the next attempt, and records it. */
    attemptDelivery: (input: DeliverNotificationInput): Promise<Delivery> =>
      notifications.attempt(input),
  });
}
