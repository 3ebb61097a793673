// From the fields that a writer gave to the stored event with its defaults, and to its row.
// Called by record.ts. Source: docs/decisions.md, 2 and 4.

import { deriveUuid } from "../../base/ids.ts";
import { escapeText } from "./postgres-text.ts";
import { type EstimateCost, type EventFields, type StoredEvent, unknownName } from "./event.ts";

/**
 * Fills in the defaults: names, `receivedAtMs` as start, the session derived from the event's id.
 * `duration` stays null unless given, and is derived on reading, so that a later end changes it.
 * The cost is estimated anew each time an event is written, since any write may change its tokens.
 */
export function toStoredEvent(
  eventId: string,
  fields: EventFields,
  receivedAtMs: number,
  estimateCost: EstimateCost,
): StoredEvent {
  const event: Omit<StoredEvent, "cost_estimate"> = {
    event_id: eventId,
    session_id: fields.session_id ?? defaultSessionId(eventId),
    event_type: fields.event_type ?? "tool",
    event_name: fields.event_name ?? unknownName,
    source: fields.source ?? unknownName,
    parent_id: fields.parent_id ?? null,
    children_ids: fields.children_ids ?? [],
    error: fields.error === undefined || fields.error === "" ? null : fields.error,
    start_time: fields.start_time ?? receivedAtMs,
    end_time: fields.end_time ?? null,
    duration: fields.duration ?? null,
    config: fields.config ?? {},
    inputs: fields.inputs ?? {},
    outputs: fields.outputs ?? {},
    metadata: fields.metadata ?? {},
    metrics: fields.metrics ?? {},
    feedback: fields.feedback ?? {},
    user_properties: fields.user_properties ?? {},
  };
  return { ...event, cost_estimate: estimateCost(event) };
}

/** Returns a stored event as the fields a writer would give to make it. */
export function toEventFields(event: StoredEvent): EventFields {
  const { parent_id, error, end_time, duration, cost_estimate: _, ...rest } = event;
  return {
    ...rest,
    ...(parent_id !== null && { parent_id }),
    ...(error !== null && { error }),
    ...(end_time !== null && { end_time }),
    ...(duration !== null && { duration }),
  };
}

/**
 * Returns the session of an event sent without one: derived from the event's id, so that sending
 * the event again does not make another session.
 */
export function defaultSessionId(eventId: string): string {
  return deriveUuid(`session of ${eventId}`);
}

/** Milliseconds, fractions kept, to whole microseconds. */
export function toMicroseconds(timeMs: number): number {
  return Math.round(timeMs * 1000);
}

/** The columns of a row, as jsonb_to_recordset reads them. Free-form JSON is escaped as a whole. */
export function toRow(projectId: string, event: StoredEvent): Record<string, unknown> {
  const { start_time, end_time, duration, cost_estimate, ...columns } = event;
  return {
    project_id: projectId,
    ...columns,
    start_time_us: toMicroseconds(start_time),
    end_time_us: end_time === null ? null : toMicroseconds(end_time),
    duration_ms: duration,
    // Few events have one: the others are sent without.
    ...(cost_estimate !== null && { cost_estimate }),
  };
}

/** Key of an id in maps over several projects. */
export function keyOf(projectId: string, eventId: string): string {
  return `${projectId} ${escapeText(eventId)}`;
}
