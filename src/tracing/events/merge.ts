// The merge law: the result of writing an id again, by several writes in a batch, on a stored
// event, or by an update that came before its event. Source: docs/decisions.md, 5 and 6.

import { isJsonObject, type JsonObject, type JsonValue, setOwn } from "../../base/json.ts";
import { type Bucket, buckets, type EventFields, isSession } from "./event.ts";
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
 * changes nothing. Idempotent: merging an update twice equals merging it once.
 */
export function mergeEvent(base: EventFields, update: EventFields): EventFields {
  const merging = beginMerge(base);
  addToMerge(merging, update);
  return endMerge(merging);
}

/**
 * A merge in progress. Callers only read `fields`, and only `endMerge` adds its children. Buckets
 * in `own` and `children` are growing copies, so that each of many updates of one event costs its
 * own size, not the event's.
 */
type Merging = {
  readonly fields: Record<string, unknown>;
  readonly own: Map<Bucket, Record<string, JsonValue>>;
  children: Set<string> | undefined;
};

function beginMerge(base: EventFields): Merging {
  return { fields: { ...base }, own: new Map(), children: undefined };
}

function addToMerge(merging: Merging, update: EventFields): void {
  const { fields } = merging;
  for (const field of scalars) {
    if (update[field] !== undefined) fields[field] = update[field];
  }
  for (const bucket of buckets) addKeys(merging, bucket, update[bucket]);
  if (update.children_ids !== undefined) {
    merging.children ??= new Set(fields["children_ids"] as readonly string[] | undefined);
    for (const id of update.children_ids) merging.children.add(id);
  }
  const widens = isSession(fields);
  mergeTime(fields, "start_time", update.start_time, widens ? Math.min : undefined);
  mergeTime(fields, "end_time", update.end_time, widens ? Math.max : undefined);
}

function endMerge({ fields, children }: Merging): EventFields {
  if (children !== undefined) fields["children_ids"] = [...children];
  return fields;
}

function addKeys({ fields, own }: Merging, bucket: Bucket, keys: JsonObject | undefined): void {
  if (keys === undefined) return;
  const base = fields[bucket];
  if (!isJsonObject(base)) {
    fields[bucket] = keys;
    return;
  }
  let target = own.get(bucket);
  if (target === undefined) {
    target = { ...base };
    own.set(bucket, target);
    fields[bucket] = target;
  }
  for (const key in keys) setOwn(target, key, keys[key] ?? null);
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

/** Cause of a refused write: the fault, prefixed by the field's name if it has one. */
export type Refusal = { readonly cause: string };

/** Outcome of a change; `absent` for an update of a missing event. */
export type Outcome = "applied" | "absent" | Refusal;

/** Returns whether an outcome is a refusal. */
export function isRefusal(outcome: Outcome): outcome is Refusal {
  return typeof outcome === "object";
}

/** Refusal of an event that has the id of a session. */
export const idOfSession: Refusal = {
  cause:
    "event_id: is the id of a session, or of an event where a session is meant; choose another",
};

/** Returns the refusal of a session, or of an event in it, whose id is that of another event. */
export function sessionIsAnEvent(sessionId: string): Refusal {
  return { cause: `session_id: ${sessionId} is the id of an event that is no session` };
}

/** A write to one id that is being applied; each attempt sets `outcome`. */
export type Change = {
  readonly kind: WriteKind;
  readonly fields: EventFields;
  outcome: Outcome;
};

/**
 * Updates that came before their event. It may turn out to be a session, so its widest times are
 * kept in addition to the last ones.
 */
export type Pending = EventFields & {
  readonly earliest_start?: number;
  readonly latest_end?: number;
};

/** Merges changes into an existing event. */
export function mergeChanges(event: EventFields, changes: readonly Change[]): EventFields {
  const merging = beginMerge(event);
  for (const change of changes) applyChange(merging, change);
  return endMerge(merging);
}

function applyChange(merging: Merging, change: Change): void {
  change.outcome = clashOf(merging.fields, change.fields) ?? "applied";
  if (change.outcome === "applied") addToMerge(merging, change.fields);
}

/**
 * Folds the changes of an id without a visible event, in order of arrival. Updates that may wait
 * (`enrich`) apply on top of the event, because their sender knew that it was coming. Other updates
 * are `absent` unless the event comes in the same commit. Without an event, `pending` holds the
 * waiting updates.
 */
export function foldChanges(
  changes: readonly Change[],
  pending: Pending | undefined,
): { event: EventFields | undefined; pending: Pending | undefined } {
  const [first] = changes;
  if (changes.length === 1 && first?.kind === "create" && pending === undefined) {
    first.outcome = "applied";
    // Nothing to merge, so nothing to copy.
    return { event: first.fields, pending };
  }
  let event: Merging | undefined;
  let waiting = pending && beginWait(pending);
  const early: Change[] = [];
  for (const change of changes) {
    change.outcome = "applied";
    if (event !== undefined) applyChange(event, change);
    else if (change.kind === "create") {
      event = beginMerge(waiting ? applyPending(change.fields, endWait(waiting)) : change.fields);
    } else if (change.kind === "enrich") addToWait((waiting ??= beginWait({})), change.fields);
    else early.push(change);
  }
  if (event !== undefined) {
    for (const change of early) applyChange(event, change);
    return { event: endMerge(event), pending: undefined };
  }
  for (const change of early) change.outcome = "absent";
  return { event: undefined, pending: waiting && endWait(waiting) };
}

/**
 * Returns the event with its waiting updates applied. Whether it is a session is the event's word,
 * whatever type and session an early update gives.
 */
export function applyPending(event: EventFields, pending: Pending): EventFields {
  const { earliest_start, latest_end, ...fields } = pending;
  const updated = mergeEvent(event, fields);
  const merged = isSession(updated) === isSession(event) ? updated : withIdentity(updated, event);
  if (!isSession(merged)) return merged;
  return mergeEvent(merged, {
    ...(earliest_start !== undefined && { start_time: earliest_start }),
    ...(latest_end !== undefined && { end_time: latest_end }),
  });
}

/** Updates gathered while their event is absent, with the widest times among them. */
type Waiting = { readonly merging: Merging; earliest: number; latest: number };

function beginWait({ earliest_start, latest_end, ...fields }: Pending): Waiting {
  return {
    merging: beginMerge(fields),
    earliest: earliest_start ?? Infinity,
    latest: latest_end ?? -Infinity,
  };
}

function addToWait(waiting: Waiting, update: EventFields): void {
  addToMerge(waiting.merging, update);
  waiting.earliest = Math.min(waiting.earliest, update.start_time ?? Infinity);
  waiting.latest = Math.max(waiting.latest, update.end_time ?? -Infinity);
}

function endWait({ merging, earliest, latest }: Waiting): Pending {
  return {
    ...endMerge(merging),
    ...(earliest !== Infinity && { earliest_start: earliest }),
    ...(latest !== -Infinity && { latest_end: latest }),
  };
}

// A session must remain a session; otherwise its events become unreachable. Another event must not
// become one, since it is a part of its session.
function clashOf(event: EventFields, update: EventFields): Refusal | undefined {
  const { event_type = event.event_type, session_id = event.session_id } = update;
  const wasSession = isSession(event);
  if (wasSession === isSession({ event_id: event.event_id, event_type, session_id }))
    return undefined;
  return wasSession ? idOfSession : sessionIsAnEvent(session_id ?? "");
}

/** Returns `event` with the type and the session that `given` names. */
function withIdentity(event: EventFields, given: EventFields): EventFields {
  const { event_type, session_id } = given;
  return {
    ...event,
    ...(event_type !== undefined && { event_type }),
    ...(session_id !== undefined && { session_id }),
  };
}
