// An event as evaluators see it: the API's answer, with the same names.
// Source: docs/spec.md, "Event record"; docs/evaluators.md.

import { isJsonObject, type JsonObject, type JsonValue, present } from "../../base/json.ts";
import { buckets, isSession, type StoredEvent } from "../../tracing/events/event.ts";
import { durationOf } from "../../tracing/events/event-message.ts";

/** Fields in addition to the buckets; a prompt may name all of them. */
export const eventFieldNames = [
  "event_id",
  "session_id",
  "project_id",
  "parent_id",
  "children_ids",
  "event_type",
  "event_name",
  "source",
  "error",
  "start_time",
  "end_time",
  "duration",
] as const;

/**
 * Returns the event for code and prompts: every bucket, `{}` if empty; times in whole Unix
 * milliseconds and `duration` in milliseconds; null for an absent end, duration, error or parent.
 * An event without a parent shows its session.
 */
export function toEvaluatedEvent(event: StoredEvent, projectId: string): JsonObject {
  return {
    event_id: event.event_id,
    session_id: event.session_id,
    project_id: projectId,
    parent_id: event.parent_id ?? (isSession(event) ? null : event.session_id),
    children_ids: event.children_ids,
    event_type: event.event_type,
    event_name: event.event_name,
    source: event.source,
    error: event.error,
    start_time: Math.floor(event.start_time),
    end_time: event.end_time === null ? null : Math.floor(event.end_time),
    duration: durationOf(event) ?? null,
    ...present(Object.fromEntries(buckets.map((bucket) => [bucket, event[bucket]]))),
  };
}

/** Returns whether an event has ground truth: a `feedback.ground_truth` that is not null. */
export function hasGroundTruth({ feedback }: { readonly feedback?: JsonValue }): boolean {
  return isJsonObject(feedback) && (feedback["ground_truth"] ?? null) !== null;
}
