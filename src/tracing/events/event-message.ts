// Converts event records to messages. Source: docs/spec.md, "Event record (export response
// element)"; docs/decisions.md, 3 and 4.

import { create } from "@bufbuild/protobuf";
import { CostEstimateSchema, type Event, EventSchema } from "../../../gen/waggle/v1/event_pb.js";
import type { JsonObject } from "../../base/json.ts";
import { buckets, type CostEstimate, isSession } from "./event.ts";
import type { EventFieldName, SelectedEvent } from "./event-row.ts";

type Struct = NonNullable<Event["config"]>;

/**
 * Returns the message of an event. Times are truncated to whole milliseconds, not rounded, so that
 * an event lies inside the millisecond it shows. An event without a parent shows its session.
 * `projections` names the fields to show in addition to `event_id`; undefined means all.
 */
export function toEventMessage(
  event: SelectedEvent,
  projectId: string,
  projections?: ReadonlySet<EventFieldName>,
): Event {
  const message = create(EventSchema);
  message.eventId = event.event_id;
  const shows = (name: EventFieldName): boolean => projections?.has(name) ?? true;
  if (shows("project_id")) message.projectId = projectId;
  if (shows("event_type")) message.eventType = event.event_type;
  if (shows("start_time")) message.startTime = Math.floor(event.start_time);
  if (event.session_id !== undefined && shows("session_id")) message.sessionId = event.session_id;
  if (event.event_name !== undefined) message.eventName = event.event_name;
  if (event.source !== undefined) message.source = event.source;
  if (event.children_ids !== undefined) message.childrenIds = [...event.children_ids];
  if (event.error != null) message.error = event.error;
  if (event.end_time != null && shows("end_time")) message.endTime = Math.floor(event.end_time);
  const duration = durationOf(event);
  if (duration !== undefined && shows("duration")) message.duration = duration;
  const parent = event.parent_id === undefined ? undefined : parentOf(event);
  if (parent !== undefined) message.parentId = parent;
  for (const bucket of buckets) {
    const value = event[bucket];
    if (value !== undefined) setBucket(message, bucket, value);
  }
  if (event.cost_estimate != null) message.costEstimate = toEstimateMessage(event.cost_estimate);
  return message;
}

/**
 * Returns the duration that was sent, else end minus start if both are known: 0 if the end lies
 * before the start, as a clock that was set back says.
 */
export function durationOf(
  event: Pick<SelectedEvent, "start_time" | "end_time" | "duration">,
): number | undefined {
  if (event.duration != null) return event.duration;
  return event.end_time == null ? undefined : microsecondsBetween(event.start_time, event.end_time);
}

// Subtracting milliseconds with fractions would show 12.300048828125 for 12.3.
function microsecondsBetween(startMs: number, endMs: number): number {
  return Math.max(0, Math.round(endMs * 1000) - Math.round(startMs * 1000)) / 1000;
}

function parentOf(event: SelectedEvent): string | undefined {
  return event.parent_id ?? (isSession(event) ? undefined : event.session_id);
}

function toEstimateMessage({ cost, reason, price_table: priceTable }: CostEstimate) {
  return create(CostEstimateSchema, {
    priceTable,
    ...(cost !== null && { cost }),
    ...(reason !== undefined && { reason }),
  });
}

function setBucket(message: Event, bucket: (typeof buckets)[number], value: JsonObject): void {
  const name = bucket === "user_properties" ? "userProperties" : bucket;
  // A Struct and our JSON type differ in `readonly` only.
  message[name] = value as Struct;
}
