// Converts pages of a session's skeleton to messages.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type ListSessionSkeletonResponseSchema,
  type SkeletonEvent as SkeletonEventMessage,
  SkeletonEventSchema,
} from "../../../gen/waggle/v1/session_pb.js";
import { durationOf } from "../events/event-message.ts";
import { toTotalsMessage } from "./session-message.ts";
import type { SkeletonEvent, SkeletonPage } from "./skeletons.ts";

export function toSkeletonPageMessage({
  session,
  events,
  nextCursor,
}: SkeletonPage): MessageInitShape<typeof ListSessionSkeletonResponseSchema> {
  return {
    ...(session && {
      session: toMessage(session.event),
      totals: toTotalsMessage(session.totals),
    }),
    events: events.map(toMessage),
    ...(nextCursor !== undefined && { nextCursor }),
  };
}

function toMessage(event: SkeletonEvent): SkeletonEventMessage {
  // Fields are set one by one: a page has 10,000 events.
  const message = create(SkeletonEventSchema);
  message.eventId = event.event_id;
  if (event.parent_id !== null) message.parentId = event.parent_id;
  message.eventType = event.event_type;
  message.eventName = event.event_name;
  if (event.error !== null) message.error = event.error;
  message.startTime = event.start_time;
  if (event.end_time !== null) message.endTime = event.end_time;
  const duration = durationOf(event);
  if (duration !== undefined) message.duration = duration;
  if (event.model !== null) message.model = event.model;
  message.promptTokens = event.totals.prompt_tokens;
  message.completionTokens = event.totals.completion_tokens;
  message.totalTokens = event.totals.total_tokens;
  if (event.cost !== undefined) message.cost = event.cost;
  if (event.estimated_cost !== null) message.estimatedCost = event.estimated_cost;
  message.hasFeedback = event.has_feedback;
  message.hasMetrics = event.has_metrics;
  return message;
}
