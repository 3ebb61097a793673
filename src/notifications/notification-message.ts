// Converts targets of notifications, and notifications with their attempts, from messages and to
// messages, for all that has some.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  NotificationDetails as DetailsMessage,
  NotificationDetailsSchema,
  NotificationSchema,
  NotificationTarget as TargetMessage,
  NotificationTargetSchema,
} from "../../gen/waggle/v1/alert_pb.js";
import type { Page } from "../base/pages.ts";
import { toStruct } from "../base/struct.ts";
import type { NotificationRow } from "./store.ts";
import {
  shownPath,
  type Target,
  type TargetInput,
  type TargetInputs,
  type Targets,
} from "./target.ts";

export function toTargetInputs({ critical, resolved }: DetailsMessage): Partial<TargetInputs> {
  return {
    ...(critical && { critical: toTarget(critical) }),
    ...(resolved && { resolved: toTarget(resolved) }),
  };
}

export function toTargetsMessage({
  critical,
  resolved,
}: Targets): MessageInitShape<typeof NotificationDetailsSchema> {
  return {
    critical: toTargetMessage(critical),
    ...(resolved && { resolved: toTargetMessage(resolved) }),
  };
}

function toTarget({ channel, metadata, userIds }: TargetMessage): TargetInput {
  return { channel, metadata: metadata, userIds };
}

/** Returns a target as answers show it: of a URL only the origin. */
function toTargetMessage(target: Target): MessageInitShape<typeof NotificationTargetSchema> {
  const { channel } = target;
  switch (channel) {
    case "WEBHOOK":
    case "SLACK":
      return { channel, metadata: toStruct({ url: target.origin + shownPath }) };
    case "EMAIL":
      return {
        channel,
        metadata: toStruct({ emails: target.emails }),
        userIds: [...target.userIds],
      };
  }
}

function toNotificationMessage(
  notification: NotificationRow,
): MessageInitShape<typeof NotificationSchema> {
  const { id, type, channel, state, attempts, createdAt, deliveredAt } = notification;
  return {
    id,
    type,
    channel,
    state,
    attempts: attempts.map(({ atMs, error }) => ({
      at: timestampFromMs(atMs),
      ...(error !== null && { error }),
    })),
    createdAt: timestampFromDate(createdAt),
    ...(deliveredAt && { deliveredAt: timestampFromDate(deliveredAt) }),
  };
}

/** Returns a page of the log of notifications. */
export function toNotificationsMessage({ items, nextCursor }: Page<NotificationRow>) {
  return {
    success: true,
    data: items.map(toNotificationMessage),
    ...(nextCursor !== undefined && { nextCursor }),
  };
}

/** Returns how the test of a target went. */
export function toTestMessage(sent: NotificationRow) {
  return { success: sent.state === "delivered", data: toNotificationMessage(sent) };
}
