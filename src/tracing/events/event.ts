// An event between transport and store, and the names of its parts.
// Source: docs/spec.md, "Event record"; docs/decisions.md, 2, 4 and 6.

import type { JsonObject } from "../../base/json.ts";

export const eventTypes = ["model", "tool", "chain", "session"] as const;
export type EventType = (typeof eventTypes)[number];

/** Free-form object columns, merged by their top-level keys. */
export const buckets = [
  "config",
  "inputs",
  "outputs",
  "metadata",
  "metrics",
  "feedback",
  "user_properties",
] as const;
export type Bucket = (typeof buckets)[number];

/** Returns whether a text is the name of a bucket. */
export function isBucket(text: string): text is Bucket {
  return buckets.some((bucket) => bucket === text);
}

/** Returns the bucket that a field is, or is a path into; undefined for other names. */
export function bucketOf(field: string): Bucket | undefined {
  return buckets.find(
    (bucket) =>
      field.startsWith(bucket) && (field.length === bucket.length || field[bucket.length] === "."),
  );
}

/**
 * Fields of an event from a writer; an absent field changes nothing. Field names are those of the
 * wire and of the columns. Times are Unix milliseconds with fractions to the microsecond,
 * `duration` is milliseconds. `error: ""` clears an error.
 */
export type EventFields = { readonly [B in Bucket]?: JsonObject } & {
  readonly event_id?: string;
  readonly event_type?: EventType;
  readonly event_name?: string;
  readonly source?: string;
  readonly session_id?: string;
  readonly parent_id?: string;
  readonly children_ids?: readonly string[];
  readonly error?: string;
  readonly start_time?: number;
  readonly end_time?: number;
  readonly duration?: number;
};

/** Fields written to one id. */
export type EventWrite = EventFields & { readonly event_id: string };

/**
 * A stored event, with every default filled in. `parent_id` is null if the writer gave none;
 * readers resolve it (docs/decisions.md, 19). `error` is null without an error.
 */
export type StoredEvent = { readonly [B in Bucket]: JsonObject } & {
  readonly event_id: string;
  readonly session_id: string;
  readonly event_type: EventType;
  readonly event_name: string;
  readonly source: string;
  readonly parent_id: string | null;
  readonly children_ids: readonly string[];
  readonly error: string | null;
  readonly start_time: number;
  readonly end_time: number | null;
  readonly duration: number | null;
  /** Null if the event is not a model call or has no token counts. */
  readonly cost_estimate: CostEstimate | null;
};

/** Cost of a model's call according to a price table, in stored and answered form. */
export type CostEstimate = {
  /** US dollars; null if the price is unknown. */
  readonly cost: number | null;
  /** Reason for an unknown price; absent if the price is known. */
  readonly reason?: string;
  /** Name, version and date of the price table. */
  readonly price_table: string;
};

/** Fields of an event that determine its cost. */
export type PricedEvent = Pick<StoredEvent, "event_type" | "start_time" | "config" | "metadata">;

/** Estimates the cost of an event when it is stored; null if there is nothing to price. */
export type EstimateCost = (event: PricedEvent) => CostEstimate | null;

/** Prices by which the costs of a project's events are estimated. */
export type Pricing = {
  readonly estimateCost: EstimateCost;
  /** Name that its estimates carry; an estimate with another one is out of date. */
  readonly priceTable: string;
};

/** Estimates nothing. */
export const noPricing: Pricing = { estimateCost: () => null, priceTable: "" };

/**
 * Returns whether an event is a session: of type session, under its session's id. Another event of
 * that type is a part of its session. Fields without both ids are judged by the type alone. Source:
 * docs/decisions.md, 38.
 */
export function isSession(event: {
  readonly [F in "event_type" | "event_id" | "session_id"]?: string | undefined;
}): boolean {
  return event.event_type === "session" && event.session_id === event.event_id;
}

/**
 * Exclusive maximum of Unix milliseconds whose microseconds are exact in a double: years 1684 to
 * 2255.
 */
export const timeMsMax = 2 ** 53 / 1000;

/**
 * Returns the last time at which an event was active, in Unix milliseconds: its end; without one,
 * its start plus its duration. A duration below zero, or past `timeMsMax`, counts as none.
 */
export function lastTimeOf(event: {
  readonly start_time: number;
  readonly end_time?: number | null | undefined;
  readonly duration?: number | null | undefined;
}): number {
  const { start_time, end_time, duration } = event;
  if (end_time != null) return end_time;
  const last = start_time + Math.max(duration ?? 0, 0);
  return last < timeMsMax ? last : start_time;
}

/** Value of `source` and `event_name` if the writer gave none. */
export const unknownName = "unknown";
