// An event as evaluators see it: what the API answers, under the same names. Called by the chunks
// of workflows and by trials. Source: docs/spec.md, "Event record"; docs/evaluators.md.

import { isJsonObject, type JsonObject, type JsonValue, present } from "../../base/json.ts";
import { buckets, type StoredEvent } from "../../tracing/events/event.ts";
import { durationOf } from "../../tracing/events/event-message.ts";

/** Fields beside the buckets, all of which a prompt may name. */
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
 * Returns what code and prompts see: every bucket, `{}` where it is empty; times in whole Unix
 * milliseconds and `duration` in milliseconds; null for an end, a duration, an error or a parent
 * that there is not. An event without a parent of its own shows its session.
 */
export function toEvaluatedEvent(event: StoredEvent, projectId: string): JsonObject {
  const isSession = event.event_type === "session";
  return {
    event_id: event.event_id,
    session_id: event.session_id,
    project_id: projectId,
    parent_id: event.parent_id ?? (isSession ? null : event.session_id),
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

/** Tells whether an event has ground truth: `feedback.ground_truth` that is not null. */
export function hasGroundTruth({ feedback }: { readonly feedback?: JsonValue }): boolean {
  return isJsonObject(feedback) && (feedback["ground_truth"] ?? null) !== null;
}
