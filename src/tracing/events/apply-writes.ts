// Applies the writes of one commit: inserts what is new, merges what is there, keeps early updates,
// makes the sessions, and keeps totals and field catalogue, all in one transaction.
// Called by record.ts. Source: docs/decisions.md, 5, 6, 17 and 18.

import type { Database, Sql } from "../../postgres/database.ts";
import type { FieldCatalogue, FieldSighting } from "../fields/fields.ts";
import { applyTotals, type TotalsChange } from "../sessions/totals-change.ts";
import { type EventFields, type StoredEvent, unknownName } from "./event.ts";
import { type Change, foldChanges, mergeEvent } from "./merge.ts";
import type { WriteSet } from "./write-set.ts";
import { keyOf, toEventFields, toRow, toStoredEvent } from "./stored-event.ts";
import {
  type Held,
  insertEvents,
  listNamelessSessions,
  lockEvents,
  replaceEvents,
} from "./store.ts";

/** What one commit asks of one id. */
type Entry = {
  readonly projectId: string;
  readonly eventId: string;
  readonly changes: Change[];
  /** True when the id must exist: an update that may not wait. */
  mustExist: boolean;
  /** A session that events name: made when absent, else left as it is. */
  stub: EventFields | undefined;
  receivedAtMs: number;
};

type Entries = Map<string, Entry>;

/**
 * Applies several requests' writes and commits. Returns, for each request, the ids its updates did
 * not find. Retried as a whole when two commits meet in a deadlock.
 */
export async function applyWrites(
  database: Database,
  fields: FieldCatalogue,
  sets: readonly WriteSet[],
): Promise<readonly ReadonlySet<string>[]> {
  const entries = collectEntries(sets);
  const { absent, sightings } = await database.transaction((sql) => apply(sql, fields, entries));
  fields.confirm(sightings);
  return sets.map(({ projectId, writes, kind }) =>
    kind === "update"
      ? new Set(
          writes.map((write) => write.event_id).filter((id) => absent.has(keyOf(projectId, id))),
        )
      : new Set<string>(),
  );
}

async function apply(
  sql: Sql,
  fields: FieldCatalogue,
  entries: Entries,
): Promise<{ absent: ReadonlySet<string>; sightings: FieldSighting[] }> {
  const changes: TotalsChange[] = [];
  const inserted = await insertNew(sql, entries, changes);
  const { absent, merged } = await mergeIntoHeld(sql, entries, inserted.keys, changes);
  await applyTotals(sql, changes);
  const sightings: FieldSighting[] = [];
  for (const { projectId, event } of [...inserted.events, ...merged]) {
    sightings.push(...fields.unseen(projectId, event));
  }
  for (const [projectId, group] of groupBy(sightings, (sighting) => sighting.projectId)) {
    await fields.record(sql, projectId, group);
  }
  return { absent, sightings };
}

type Placed = { readonly projectId: string; readonly event: StoredEvent };

async function insertNew(
  sql: Sql,
  entries: Entries,
  changes: TotalsChange[],
): Promise<{ keys: ReadonlySet<string>; events: Placed[] }> {
  const rows: Record<string, unknown>[] = [];
  const events = new Map<string, Placed>();
  for (const [key, entry] of entries) {
    const folded = foldChanges(entry.changes, undefined);
    const made = folded.event === undefined ? withStub(entry, folded.pending) : folded.event;
    if (made !== undefined) {
      const event = toStoredEvent(entry.eventId, made, entry.receivedAtMs);
      events.set(key, { projectId: entry.projectId, event });
      rows.push(toRow(entry.projectId, event));
    } else if (folded.pending !== undefined && !entry.mustExist) {
      rows.push(pendingRow(entry.projectId, entry.eventId, folded.pending));
    }
  }
  const keys = new Set<string>();
  const placed: Placed[] = [];
  for (const { project_id, event_id } of await insertEvents(sql, rows)) {
    const key = `${project_id} ${event_id}`;
    keys.add(key);
    const made = events.get(key);
    if (made === undefined) continue;
    placed.push(made);
    changes.push({ projectId: made.projectId, before: undefined, after: made.event });
  }
  return { keys, events: placed };
}

async function mergeIntoHeld(
  sql: Sql,
  entries: Entries,
  insertedKeys: ReadonlySet<string>,
  changes: TotalsChange[],
): Promise<{ absent: ReadonlySet<string>; merged: Placed[] }> {
  const remaining = [...entries].filter(([key]) => !insertedKeys.has(key));
  const held = await lockRemaining(sql, remaining);
  const absent = new Set<string>();
  const merged: Placed[] = [];
  const rows: Record<string, unknown>[] = [];
  for (const [key, entry] of remaining) {
    const found = held.get(key);
    if (entry.mustExist && (found === undefined || "pending" in found)) absent.add(key);
    if (found === undefined) {
      if (entry.mustExist || entry.changes.length === 0) continue;
      throw deletedMeanwhile();
    }
    const { projectId, eventId } = entry;
    if ("pending" in found) {
      const folded = foldChanges(entry.changes, found.pending);
      const made = folded.event ?? withStub(entry, folded.pending);
      if (made === undefined) {
        rows.push(pendingRow(projectId, eventId, folded.pending ?? found.pending));
        continue;
      }
      const event = toStoredEvent(eventId, made, entry.receivedAtMs);
      rows.push(toRow(projectId, event));
      merged.push({ projectId, event });
      changes.push({ projectId, before: undefined, after: event });
    } else {
      const event = mergeChanges(entry, found.event);
      rows.push(toRow(projectId, event));
      merged.push({ projectId, event });
      changes.push({ projectId, before: found.event, after: event });
    }
  }
  await replaceEvents(sql, rows);
  return { absent, merged };
}

// Seen by the insert, gone before the lock: the transaction runs again and inserts.
function deletedMeanwhile(): Error {
  return Object.assign(new Error("an event was deleted while it was merged"), { code: "40001" });
}

function mergeChanges(entry: Entry, stored: StoredEvent): StoredEvent {
  let fields = toEventFields(stored);
  const name = entry.stub?.event_name;
  if (name !== undefined && fields.event_name === unknownName) {
    fields = { ...fields, event_name: name };
  }
  for (const change of entry.changes) fields = mergeEvent(fields, change.fields);
  return toStoredEvent(entry.eventId, fields, stored.start_time);
}

// A stub is the event that an early update of a session waited for.
function withStub(entry: Entry, pending: EventFields | undefined): EventFields | undefined {
  if (entry.stub === undefined) return undefined;
  return pending === undefined ? entry.stub : mergeEvent(entry.stub, pending);
}

// Most stubs meet a session that is there and has its name: those are neither read nor locked.
async function lockRemaining(
  sql: Sql,
  remaining: readonly (readonly [string, Entry])[],
): Promise<Map<string, Held>> {
  const held = new Map<string, Held>();
  const byProject = groupBy(remaining, ([, entry]) => entry.projectId);
  for (const projectId of [...byProject.keys()].toSorted()) {
    const group = (byProject.get(projectId) ?? []).map(([, entry]) => entry);
    const changed = group.filter((entry) => entry.changes.length > 0);
    const stubs = group.filter((entry) => entry.changes.length === 0);
    const ids = [...changed.map((entry) => entry.eventId), ...(await openStubs(sql, stubs))];
    if (ids.length === 0) continue;
    for (const one of await lockEvents(sql, projectId, ids)) {
      held.set(keyOf(projectId, one.key.event_id), one);
    }
  }
  return held;
}

// A session needs its stub where an early update waits for it, or where this commit knows its name.
async function openStubs(sql: Sql, stubs: readonly Entry[]): Promise<string[]> {
  const [first] = stubs;
  if (first === undefined) return [];
  const ids = stubs.map((entry) => entry.eventId);
  const nameless = await listNamelessSessions(sql, first.projectId, ids);
  return stubs
    .filter(({ eventId, stub }) => {
      const state = nameless.get(eventId);
      return state === "pending" || (state !== undefined && stub?.event_name !== undefined);
    })
    .map((entry) => entry.eventId);
}

function collectEntries(sets: readonly WriteSet[]): Entries {
  const entries: Entries = new Map();
  for (const set of sets) {
    for (const { event_id, ...fields } of set.writes) {
      const entry = entryOf(entries, set, event_id);
      entry.changes.push({ isUpdate: set.kind !== "create", fields });
      if (set.kind !== "update") entry.mustExist = false;
      if (set.kind === "create" && fields.event_type !== "session") {
        addStub(entries, set, event_id, fields);
      }
    }
  }
  return entries;
}

function entryOf(entries: Entries, set: WriteSet, eventId: string): Entry {
  const key = keyOf(set.projectId, eventId);
  let entry = entries.get(key);
  if (entry === undefined) {
    entry = {
      projectId: set.projectId,
      eventId,
      changes: [],
      mustExist: true,
      stub: undefined,
      receivedAtMs: set.receivedAtMs,
    };
    entries.set(key, entry);
  }
  return entry;
}

// The session of an event: there once the event is, whether or not anybody started it.
function addStub(entries: Entries, set: WriteSet, eventId: string, fields: EventFields): void {
  const sessionId = fields.session_id;
  if (sessionId === undefined || sessionId === eventId) return;
  const entry = entryOf(entries, set, sessionId);
  entry.mustExist = false;
  const start = fields.start_time ?? set.receivedAtMs;
  const name = set.sessionNames.get(sessionId);
  entry.stub = {
    event_type: "session",
    session_id: sessionId,
    source: fields.source ?? unknownName,
    ...entry.stub,
    start_time: Math.min(entry.stub?.start_time ?? start, start),
    ...(name !== undefined && { event_name: name }),
  };
}

/** A row that no reader sees: the updates lie whole in `inputs`. */
function pendingRow(projectId: string, eventId: string, fields: EventFields) {
  const row = toRow(projectId, toStoredEvent(eventId, { session_id: eventId }, 0));
  return { ...row, event_type: "pending", inputs: fields };
}

function groupBy<K, T>(items: readonly T[], keyOfItem: (item: T) => K): Map<K, T[]> {
  return Map.groupBy(items, keyOfItem);
}
