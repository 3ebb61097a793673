// Stores a commit of small updates in two round trips: reads the events without locking them, and
// merges if they are still as they were read (migration 0019). Every other commit is left to
// apply-writes.ts.

import { eventBytesMax } from "../../base/limits.ts";
import { createPacer, type Pacer } from "../../base/pacer.ts";
import type { Database } from "../../postgres/database.ts";
import { toTotalsJson } from "../sessions/store.ts";
import { totalsTermsOf } from "../sessions/totals-change.ts";
import { outcomesOf, tryStatement } from "./apply-new.ts";
import type { Derivations } from "./apply-writes.ts";
import type { Outcomes } from "./commit-queue.ts";
import { collectEntries, type Entry, toSubmitted } from "./entries.ts";
import { type EventFields, isSession } from "./event.ts";
import { fieldsOfHeld, type HeldEvent } from "./held-event.ts";
import { hoursOf } from "./mark-store.ts";
import { compressionMax, mergePair, type Merging } from "./merge-held.ts";
import { mergeUnchanged, readHeld } from "./merge-store.ts";
import { isLong } from "./row-json.ts";
import { type Row, toOneStatement } from "./row-statements.ts";
import { mustHear, type WriteSet } from "./write-set.ts";

/** Maximum bytes of the updates of a commit, and of an event with its updates. */
const bytesMax = 1_000_000;

/**
 * Applies and commits several requests' updates of one project if they change only payloads, names
 * and errors of events that exist, for no listener but the evaluation queue. Returns the outcomes
 * of each request's writes; undefined if nothing was stored. Does nothing inside a transaction,
 * which a failure would end.
 */
export type ApplyUpdates = (sets: readonly WriteSet[]) => Promise<readonly Outcomes[] | undefined>;

export function createApplyUpdates(database: Database, derivations: Derivations): ApplyUpdates {
  const { fields, listener } = derivations;

  function mayApply(sets: readonly WriteSet[]): boolean {
    const [first] = sets;
    if (first === undefined || database.isInTransaction()) return false;
    if (mustHear(listener, first.projectId)) return false;
    return sets.every(
      ({ kind, projectId, writes }) =>
        kind !== "create" && projectId === first.projectId && !isLong(writes, bytesMax),
    );
  }

  /** Returns the rows that merge the entries and the changes; undefined for other updates. */
  async function merge(
    projectId: string,
    entries: readonly Entry[],
    pacer: Pacer,
  ): Promise<(Pick<Merging, "changes"> & { rows: readonly Row[] }) | undefined> {
    const sql = database.sql();
    const ids = entries.map(({ eventId }) => eventId);
    const held = new Map((await readHeld(sql, projectId, ids)).map((one) => [one.event_id, one]));
    const merging: Merging = {
      sql,
      refusals: new Map(),
      large: new Set(),
      changes: [],
      options: { pacer, isAlone: true },
    };
    const rows: Row[] = [];
    for (const entry of entries) {
      const found = held.get(entry.eventId);
      if (found === undefined || found.event_type === "pending") return undefined;
      if (!isPlain(entry, found)) return undefined;
      const row = await mergePair(merging, { entry, held: found }, found.event_type, undefined);
      if (merging.refusals.size > 0) return undefined;
      if (row !== undefined) rows.push({ ...row, version: found.version });
      if (pacer.due()) await pacer.rest();
    }
    const isKnown = merging.changes.every(
      ({ given }) => fields.unseen(projectId, given).length === 0,
    );
    return isKnown ? { rows, changes: merging.changes } : undefined;
  }

  return async (sets) => {
    const [first] = sets;
    if (first === undefined || !mayApply(sets)) return undefined;
    const pacer = createPacer();
    const submitted = sets.map(toSubmitted);
    const { entries } = collectEntries(submitted, new Map());
    const merged = await merge(first.projectId, [...entries.values()], pacer);
    if (merged === undefined) return undefined;
    const { rows, changes } = merged;
    if (rows.length === 0) return submitted.map(outcomesOf);
    const totals = toTotalsJson(totalsTermsOf(changes));
    const hours = hoursOf(changes);
    const text = await toOneStatement(rows, pacer);
    // A listener may have begun to want the events meanwhile.
    if (text === undefined || mustHear(listener, first.projectId)) return undefined;
    const queued = JSON.stringify(listener?.queuedOf?.(changes) ?? []);
    const isStored = await tryStatement(() =>
      mergeUnchanged(database.sql(), { rows: text, totals, queued, hours }),
    );
    return isStored ? submitted.map(outcomesOf) : undefined;
  };
}

/** Returns whether updates change nothing of an event that other rows depend on. */
function isPlain({ changes }: Entry, held: HeldEvent): boolean {
  if (held.event_type === "pending") return false;
  if (held.bucketBytes * compressionMax + bytesMax > eventBytesMax) return false;
  const isOfSession = isSession(fieldsOfHeld(held, held.event_type));
  return changes.every(
    ({ fields }) =>
      fields.children_ids === undefined &&
      isSame(fields.session_id, held.session_id) &&
      isSame(fields.event_type, held.event_type) &&
      isSame(fields.start_time, held.start_time) &&
      (isOfSession || isSameEnd(fields, held)),
  );
}

/** Returns whether the last time at which the event was active stays. */
function isSameEnd({ end_time, duration }: EventFields, held: HeldEvent): boolean {
  if (!isSame(end_time, held.end_time)) return false;
  return held.end_time !== null || isSame(duration, held.duration);
}

/** Returns whether a field is not given, or given as it is. */
function isSame<T>(given: T | undefined, held: T | null): boolean {
  return given === undefined || given === held;
}
