// The merge law: what happens when an id is written again. Called by record.ts for writes that
// meet each other in a batch, a stored event, or an update that came before its event.
// Source: docs/decisions.md, 6.

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { type Bucket, buckets, type EventFields } from "./event.ts";

const scalars = [
  "event_type",
  "event_name",
  "source",
  "session_id",
  "parent_id",
  "error",
  "duration",
] as const;

/**
 * Returns `base` with the fields of `update` merged into it: a scalar replaces, a bucket merges by
 * its top-level keys, children are a set union, a session's times only widen, an absent field
 * changes nothing. Idempotent: merging the same update twice equals merging it once.
 */
export function mergeEvent(base: EventFields, update: EventFields): EventFields {
  const merged: Record<string, unknown> = { ...base };
  for (const field of scalars) {
    if (update[field] !== undefined) merged[field] = update[field];
  }
  for (const bucket of buckets) mergeBucket(merged, bucket, update[bucket]);
  if (update.children_ids !== undefined) {
    merged["children_ids"] = [...new Set([...(base.children_ids ?? []), ...update.children_ids])];
  }
  const isSession = merged["event_type"] === "session";
  mergeTime(merged, "start_time", update.start_time, isSession ? Math.min : undefined);
  mergeTime(merged, "end_time", update.end_time, isSession ? Math.max : undefined);
  return merged;
}

function mergeBucket(merged: Record<string, unknown>, bucket: Bucket, keys?: JsonObject): void {
  if (keys === undefined) return;
  const base = merged[bucket];
  merged[bucket] = isJsonObject(base) ? { ...base, ...keys } : keys;
}

function mergeTime(
  merged: Record<string, unknown>,
  field: "start_time" | "end_time",
  time: number | undefined,
  widen: ((a: number, b: number) => number) | undefined,
): void {
  if (time === undefined) return;
  const base = merged[field];
  merged[field] = widen && typeof base === "number" ? widen(base, time) : time;
}

/** A write to one id: a whole event, or an update of what is or will be there. */
export type Change = { readonly isUpdate: boolean; readonly fields: EventFields };

/**
 * Folds the changes of an id that has no visible event yet, in the order they came. Updates that
 * came before the event apply on top of it, since their sender knew it was on its way. Undefined
 * when no change is a whole event; `pending` then holds the merged updates.
 */
export function foldChanges(
  changes: readonly Change[],
  pending: EventFields | undefined,
): { event: EventFields | undefined; pending: EventFields | undefined } {
  let event: EventFields | undefined;
  let waiting = pending;
  for (const { isUpdate, fields } of changes) {
    if (event !== undefined) event = mergeEvent(event, fields);
    else if (isUpdate) waiting = waiting === undefined ? fields : mergeEvent(waiting, fields);
    else event = waiting === undefined ? fields : mergeEvent(fields, waiting);
  }
  return { event, pending: event === undefined ? waiting : undefined };
}
