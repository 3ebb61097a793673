// Stored events as a commit reads them: without payload. The payload is merged inside Postgres, so
// that a small update of a large event costs little. Source: docs/decisions.md, 6 and 18.1.

import type { JsonObject, JsonValue } from "../../base/json.ts";
import { amountKeys, amountLengthMax } from "../sessions/totals.ts";
import type { EventFields, EventType, StoredEvent } from "./event.ts";

/**
 * Keys of `config` and `metadata` that totals and cost estimates depend on; a merge reads only
 * these of a stored event. Values of more than `countedBytesMax` bytes are neither counts nor
 * names.
 */
export const countedKeys = {
  config: ["model", "provider"],
  metadata: [
    "cost",
    "usage",
    "prompt_tokens",
    "input_tokens",
    "completion_tokens",
    "output_tokens",
    "total_tokens",
    "cache_read_input_tokens",
    "cache_write_input_tokens",
    "cache_creation_input_tokens",
    "reasoning_tokens",
    "response_model",
    "provider",
    "provider_type",
  ],
} as const;
export const countedBytesMax = 10_000;

/** A stored event without payload; `config` and `metadata` contain their counted keys only. */
export type HeldEvent = Pick<
  StoredEvent,
  | "event_id"
  | "session_id"
  | "event_name"
  | "source"
  | "parent_id"
  | "start_time"
  | "end_time"
  | "duration"
  | "config"
  | "metadata"
> & {
  /** `pending` marks updates that arrived before their event; all of them are in `inputs`. */
  readonly event_type: EventType | "pending";
  readonly hasError: boolean;
  readonly hasFeedback: boolean;
  /** Bytes of the buckets as Postgres stores them, large ones compressed. */
  readonly bucketBytes: number;
  readonly childrenBytes: number;
};

/** Fields of an event that its session's totals and times depend on. */
export type CountedEvent = Pick<
  StoredEvent,
  | "event_id"
  | "session_id"
  | "event_type"
  | "source"
  | "error"
  | "metadata"
  | "feedback"
  | "start_time"
  | "end_time"
  | "duration"
>;

/** Returns the fields of a held event that a merge compares, without the payload. */
export function fieldsOfHeld(held: HeldEvent, eventType: EventType): EventFields {
  const { event_name, source, session_id, parent_id, start_time, end_time, duration } = held;
  return {
    event_id: held.event_id,
    event_type: eventType,
    event_name,
    source,
    session_id,
    start_time,
    ...(parent_id !== null && { parent_id }),
    ...(end_time !== null && { end_time }),
    ...(duration !== null && { duration }),
  };
}

/** Placeholders for an error and for feedback that were not read. */
const someError = "error";
const someFeedback: JsonObject = { given: true };

/** Returns the counted fields of a held event. */
export function countHeld(held: HeldEvent, eventType: EventType): CountedEvent {
  const { event_id, session_id, source, start_time, end_time, duration, metadata } = held;
  return {
    event_id,
    session_id,
    event_type: eventType,
    source,
    error: held.hasError ? someError : null,
    metadata: keepAmounts(metadata),
    feedback: held.hasFeedback ? someFeedback : {},
    start_time,
    end_time,
    duration,
  };
}

/** Returns the counted fields of an event after merging `fields` into it. */
export function countMerged(
  held: HeldEvent,
  event: StoredEvent,
  fields: EventFields,
): CountedEvent {
  const { event_id, session_id, event_type, source, metadata } = event;
  const { start_time, end_time, duration } = event;
  const isFailed = fields.error === undefined ? held.hasError : fields.error !== "";
  const hasFeedback = held.hasFeedback || Object.keys(fields.feedback ?? {}).length > 0;
  return {
    event_id,
    session_id,
    event_type,
    source,
    error: isFailed ? someError : null,
    metadata: keepAmounts(metadata),
    feedback: hasFeedback ? someFeedback : {},
    start_time,
    end_time,
    duration,
  };
}

// These stay in memory until the commit, for all events of a batch, so longer texts, which are not
// amounts, are dropped.
function keepAmounts(metadata: JsonObject): JsonObject {
  const amounts: Record<string, JsonValue> = {};
  for (const key of amountKeys) {
    const value = metadata[key];
    const isText = typeof value === "string" && value.length <= amountLengthMax;
    if (typeof value === "number" || isText) amounts[key] = value;
  }
  return amounts;
}

/** Returns the counted keys of a bucket; given keys replace held ones. */
export function mergeCounted(
  bucket: keyof typeof countedKeys,
  held: JsonObject,
  given: JsonObject | undefined,
): JsonObject {
  if (given === undefined) return held;
  const merged: Record<string, JsonValue> = { ...held };
  for (const key of countedKeys[bucket]) {
    if (Object.hasOwn(given, key)) merged[key] = given[key] ?? null;
  }
  return merged;
}
