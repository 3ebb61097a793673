// Stores a commit of small updates in one statement (migration 0036), without reading their events
// first: the common case of updates. apply-updates.ts takes those that need a read.

import { isEmpty } from "../../base/json.ts";
import { eventBytesMax } from "../../base/limits.ts";
import { createPacer } from "../../base/pacer.ts";
import type { Database } from "../../postgres/database.ts";
import { outcomesOf, tryStatement } from "./apply-new.ts";
import type { Derivations } from "./apply-writes.ts";
import type { Outcomes } from "./commit-queue.ts";
import { collectEntries, type Entry, toSubmitted } from "./entries.ts";
import { buckets, type EventFields, eventTypes } from "./event.ts";
import { countedKeys } from "./held-event.ts";
import { mergeChanges } from "./merge.ts";
import { compressionMax } from "./merge-held.ts";
import { mergeUnread } from "./merge-store.ts";
import { isLong } from "./row-json.ts";
import { type Row, toOneStatement } from "./row-statements.ts";
import type { WriteSet } from "./write-set.ts";

/** Maximum bytes of the updates of a commit. */
const bytesMax = 1_000_000;

/** Maximum stored bytes of an event that surely has room for the updates, however compressed. */
const storedBytesMax = Math.floor((eventBytesMax - bytesMax) / compressionMax);

/**
 * Applies and commits several requests' updates without reading their events. The updates may set
 * names, errors and keys of buckets that the catalogue knows; totals and estimates of cost must not
 * depend on these keys, and the events must exist. Returns the outcomes of each request's writes;
 * undefined if nothing was stored. Stores nothing for projects with a listener, nor inside a
 * transaction, which a failure would end.
 */
export type ApplyUnread = (sets: readonly WriteSet[]) => Promise<readonly Outcomes[] | undefined>;

export function createApplyUnread(database: Database, derivations: Derivations): ApplyUnread {
  const { fields, listener } = derivations;

  const isWanted = (sets: readonly WriteSet[]): boolean =>
    sets.some(({ projectId }) => listener?.wants(projectId) === true);

  function mayApply(sets: readonly WriteSet[]): boolean {
    if (database.isInTransaction() || isWanted(sets)) return false;
    return sets.every(
      ({ kind, writes, pricing }) =>
        kind !== "create" &&
        pricing.priceTable === sets[0]?.pricing.priceTable &&
        !isLong(writes, bytesMax),
    );
  }

  /** Returns the event types under which all fields of an update are recorded. */
  function typesOf({ projectId, eventId }: Entry, given: EventFields): string[] {
    return eventTypes.filter((event_type) => {
      // The session itself has no parent; the parent of every other event is recorded.
      const event = { ...given, event_type, session_id: eventId, start_time: 0 };
      return fields.unseen(projectId, event).length === 0;
    });
  }

  /** Returns the row that merges an entry's updates; undefined if they need their event. */
  function toUnreadRow(entry: Entry): Row | undefined {
    if (!entry.changes.every(({ fields: given }) => isUnread(given))) return undefined;
    const given = mergeChanges({ event_id: entry.eventId }, entry.changes);
    const types = typesOf(entry, given);
    if (types.length === 0) return undefined;
    const { event_id: _, error, ...rest } = given;
    const row: Record<string, unknown> = { ...rest, types };
    for (const bucket of buckets) if (isEmpty(given[bucket])) row[bucket] = undefined;
    if (error !== undefined) {
      row["sets_error"] = true;
      row["error"] = error === "" ? null : error;
    }
    return { project_id: entry.projectId, event_id: entry.eventId, ...row };
  }

  return async (sets) => {
    if (!mayApply(sets)) return undefined;
    const pacer = createPacer();
    const submitted = sets.map(toSubmitted);
    const rows: Row[] = [];
    for (const entry of collectEntries(submitted, new Map()).entries.values()) {
      const row = toUnreadRow(entry);
      if (row === undefined) return undefined;
      rows.push(row);
      if (pacer.due()) await pacer.rest();
    }
    if (rows.length === 0) return submitted.map(outcomesOf);
    const text = await toOneStatement(rows, pacer);
    // A listener may have begun to want the events meanwhile.
    if (text === undefined || isWanted(sets)) return undefined;
    const { priceTable = "" } = sets[0]?.pricing ?? {};
    const limits = { storedBytesMax, priceTable };
    const isStored = await tryStatement(() => mergeUnread(database.sql(), text, limits));
    return isStored ? submitted.map(outcomesOf) : undefined;
  };
}

/** Fields whose update changes no other row, no totals and no time. */
const unreadFields: ReadonlySet<string> = new Set([
  ...buckets,
  "event_id",
  "event_name",
  "source",
  "parent_id",
  "error",
]);

/** Returns whether an update is merged without knowing its event. */
function isUnread(given: EventFields): boolean {
  for (const field in given) if (!unreadFields.has(field)) return false;
  return (
    !countedKeys.config.some((key) => Object.hasOwn(given.config ?? {}, key)) &&
    !countedKeys.metadata.some((key) => Object.hasOwn(given.metadata ?? {}, key))
  );
}
