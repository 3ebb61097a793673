// Converts a writer's fields to the stored event with its defaults, and to its row.
// Source: docs/decisions.md, 2 and 4.

import { deriveUuid } from "../../base/ids.ts";
import { escapeText } from "./postgres-text.ts";
import {
  buckets,
  type CostEstimate,
  type EstimateCost,
  type EventFields,
  type StoredEvent,
  unknownName,
} from "./event.ts";
import type { Pending } from "./merge.ts";
import type { Row } from "./row-statements.ts";

/**
 * Fills in the defaults: names, `receivedAtMs` as start, the session derived from the event's id.
 * `duration` stays null unless given, and readers derive it, so that a later end changes it. Each
 * write estimates the cost anew, because any write may change the tokens.
 */
export function toStoredEvent(
  eventId: string,
  fields: EventFields,
  receivedAtMs: number,
  estimateCost: EstimateCost,
): StoredEvent {
  const event: StoredEvent & { cost_estimate: CostEstimate | null } = {
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
    cost_estimate: null,
  };
  event.cost_estimate = estimateCost(event);
  return event;
}

/**
 * Returns the session of an event sent without one. It is derived from the event's id, so that
 * sending the event again does not create another session.
 */
export function defaultSessionId(eventId: string): string {
  return deriveUuid(`session of ${eventId}`);
}

/** Converts milliseconds with fractions to whole microseconds. */
export function toMicroseconds(timeMs: number): number {
  return Math.round(timeMs * 1000);
}

/**
 * Returns the columns of a row, as jsonb_to_recordset reads them. Free-form JSON is escaped as a
 * whole.
 */
export function toRow(projectId: string, event: StoredEvent): Row {
  const { end_time, cost_estimate } = event;
  // Spelt out: the rest of a destructured event took 0.8 µs an event.
  return {
    project_id: projectId,
    event_id: event.event_id,
    session_id: event.session_id,
    event_type: event.event_type,
    event_name: event.event_name,
    source: event.source,
    parent_id: event.parent_id,
    children_ids: event.children_ids,
    error: event.error,
    config: event.config,
    inputs: event.inputs,
    outputs: event.outputs,
    metadata: event.metadata,
    metrics: event.metrics,
    feedback: event.feedback,
    user_properties: event.user_properties,
    start_time_us: toMicroseconds(event.start_time),
    end_time_us: end_time === null ? null : toMicroseconds(end_time),
    duration_ms: event.duration,
    // Few events have an estimate; JSON omits it from the other rows.
    cost_estimate: cost_estimate ?? undefined,
  };
}

/** Returns the columns of a row in the order of `store_new_rows` (migration 0037). */
export function toCells(projectId: string, event: StoredEvent): readonly unknown[] {
  return [
    projectId,
    event.event_id,
    event.session_id,
    event.event_type,
    event.event_name,
    event.source,
    event.parent_id,
    event.children_ids.length === 0 ? null : event.children_ids,
    event.error,
    toMicroseconds(event.start_time),
    event.end_time === null ? null : toMicroseconds(event.end_time),
    event.duration,
    event.config,
    event.inputs,
    event.outputs,
    event.metadata,
    event.metrics,
    event.feedback,
    event.user_properties,
    event.cost_estimate,
  ];
}

/**
 * Returns the row that updates a stored event to the merged one. Buckets, children and error
 * contain only the given values.
 */
export function toMergeRow(projectId: string, event: StoredEvent, given: EventFields): Row {
  const row: Record<string, unknown> = { ...toRow(projectId, event) };
  for (const bucket of buckets) {
    const keys = given[bucket];
    row[bucket] = keys !== undefined && Object.keys(keys).length > 0 ? keys : undefined;
  }
  row["children_ids"] = given.children_ids;
  row["sets_error"] = given.error !== undefined;
  return row as Row;
}

/** An id without an event, and the time of its last update in Unix milliseconds. */
type PendingKey = {
  readonly projectId: string;
  readonly eventId: string;
  readonly receivedAtMs: number;
};

/** Returns a row that readers skip; its updates are in `inputs`, and the last one is its start. */
export function toPendingRow(
  { projectId, eventId, receivedAtMs }: PendingKey,
  fields: Pending,
): Row {
  const row = toRow(
    projectId,
    toStoredEvent(eventId, { session_id: eventId }, receivedAtMs, () => null),
  );
  return { ...row, event_type: "pending", inputs: fields };
}

/** Returns the key of an id for maps over several projects. */
export function keyOf(projectId: string, eventId: string): string {
  return `${projectId} ${escapeText(eventId)}`;
}
