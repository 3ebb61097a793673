// The merge law: what happens when an id is written again. Called by record.ts for writes that
// meet each other in a batch, a stored event, or an update that came before its event.
// Source: docs/decisions.md, 6.

import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { type Bucket, buckets, type EventFields } from "./event.ts";
import type { WriteKind } from "./write-set.ts";

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

/**
 * What became of a change: `absent`, an update of what is not there; `refused`, a session's id
 * given to another kind of event or the other way round.
 */
export type Outcome = "applied" | "absent" | "refused";

/** A write to one id on its way to be applied; `outcome` is set each time it is tried. */
export type Change = {
  readonly kind: WriteKind;
  readonly fields: EventFields;
  outcome: Outcome;
};

/**
 * Updates that came before their event. Whether it is a session is not known then, so its widest
 * times are kept beside the last ones.
 */
export type Pending = EventFields & {
  readonly earliest_start?: number;
  readonly latest_end?: number;
};

/** Merges changes into an event that is there. */
export function mergeChanges(event: EventFields, changes: readonly Change[]): EventFields {
  let merged = event;
  for (const change of changes) {
    change.outcome = isClash(merged, change.fields) ? "refused" : "applied";
    if (change.outcome === "applied") merged = mergeEvent(merged, change.fields);
  }
  return merged;
}

/**
 * Folds the changes of an id that has no visible event yet, in the order they came. Updates that
 * may wait apply on top of the event, since their sender knew it was on its way; those that may not
 * are absent unless the event comes in the same commit. Without an event, `pending` is what waits.
 */
export function foldChanges(
  changes: readonly Change[],
  pending: Pending | undefined,
): { event: EventFields | undefined; pending: Pending | undefined } {
  let event: EventFields | undefined;
  let waiting = pending;
  const early: Change[] = [];
  for (const change of changes) {
    change.outcome = "applied";
    if (event !== undefined) event = mergeChanges(event, [change]);
    else if (change.kind === "create") {
      event = waiting === undefined ? change.fields : applyPending(change.fields, waiting);
    } else if (change.kind === "enrich") waiting = mergePending(waiting, change.fields);
    else early.push(change);
  }
  if (event !== undefined) return { event: mergeChanges(event, early), pending: undefined };
  for (const change of early) change.outcome = "absent";
  return { event: undefined, pending: waiting };
}

/** Returns the event with the updates that waited for it. */
export function applyPending(event: EventFields, pending: Pending): EventFields {
  const { earliest_start, latest_end, ...fields } = pending;
  const merged = mergeEvent(event, fields);
  if (merged.event_type !== "session") return merged;
  return mergeEvent(merged, {
    ...(earliest_start !== undefined && { start_time: earliest_start }),
    ...(latest_end !== undefined && { end_time: latest_end }),
  });
}

function mergePending(waiting: Pending | undefined, update: EventFields): Pending {
  const starts = [waiting?.earliest_start, update.start_time].filter((time) => time !== undefined);
  const ends = [waiting?.latest_end, update.end_time].filter((time) => time !== undefined);
  return {
    ...mergeEvent(waiting ?? {}, update),
    ...(starts.length > 0 && { earliest_start: Math.min(...starts) }),
    ...(ends.length > 0 && { latest_end: Math.max(...ends) }),
  };
}

// A session must stay one, or the events under it could not be reached.
function isClash(event: EventFields, update: EventFields): boolean {
  if (update.event_type === undefined) return false;
  return (event.event_type === "session") !== (update.event_type === "session");
}
