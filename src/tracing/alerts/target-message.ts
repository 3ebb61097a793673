// Converts targets of notifications from messages and to messages.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  NotificationDetails as DetailsMessage,
  NotificationDetailsSchema,
  NotificationTarget as TargetMessage,
  NotificationTargetSchema,
} from "../../../gen/waggle/v1/alert_pb.js";
import { toStruct } from "../../base/struct.ts";
import {
  shownPath,
  type Target,
  type TargetInput,
  type TargetInputs,
  type Targets,
} from "../../notifications/target.ts";

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
        ...{ channel, metadata: toStruct({ emails: target.emails }) },
        userIds: [...target.userIds],
      };
  }
}
