// Applies the writes of one commit: inserts what is new, merges what is there, keeps early updates,
// makes the sessions, and keeps totals and field catalogue, all in one transaction.
// Called by record.ts. Source: docs/decisions.md, 5, 6, 17 and 18.

import { ServiceError } from "../../base/errors.ts";
import type { Database, Sql } from "../../postgres/database.ts";
import type { FieldCatalogue, FieldSighting } from "../fields/fields.ts";
import { applyTotals, type TotalsChange } from "../sessions/totals-change.ts";
import { type EstimateCost, type EventFields, type StoredEvent, unknownName } from "./event.ts";
import type { Outcomes } from "./commit-queue.ts";
import { applyPending, type Change, foldChanges, mergeChanges, type Pending } from "./merge.ts";
import type { OnWritten, WriteSet, WrittenEvent } from "./write-set.ts";
import { keyOf, toEventFields, toMicroseconds, toRow, toStoredEvent } from "./stored-event.ts";
import {
  type Held,
  insertEvents,
  listNamelessSessions,
  lockEvents,
  replaceEvents,
  type SessionTimes,
  widenSessions,
} from "./store.ts";

/** What one commit asks of one id. */
type Entry = {
  readonly projectId: string;
  readonly eventId: string;
  readonly changes: Change[];
  /** The session that events of this commit name, as it is made when absent. */
  stub: EventFields | undefined;
  readonly receivedAtMs: number;
};

type Entries = Map<string, Entry>;

/** What is kept beside the events, and in them, when they are stored. */
export type Derivations = {
  readonly fields: FieldCatalogue;
  readonly estimateCost: EstimateCost;
  readonly onWritten?: OnWritten | undefined;
};

/**
 * Applies several requests' writes and commits. Returns, for each request, what became of its
 * writes. Retried as a whole when two commits meet in a deadlock.
 */
export async function applyWrites(
  database: Database,
  derivations: Derivations,
  sets: readonly WriteSet[],
): Promise<readonly Outcomes[]> {
  const { entries, changes } = collectEntries(sets);
  // A step, since a caller whose writes are refused may go on with others.
  const sightings = await database.step((sql) => apply(sql, derivations, entries));
  derivations.fields.confirm(sightings);
  return changes.map((ofSet) => ofSet.map(({ outcome }) => outcome));
}

async function apply(
  sql: Sql,
  { fields, estimateCost, onWritten }: Derivations,
  entries: Entries,
): Promise<FieldSighting[]> {
  const toEvent: ToEvent = (eventId, given, startMs) =>
    toStoredEvent(eventId, given, startMs, estimateCost);
  const inserted = await insertNew(sql, entries, toEvent);
  const merged = await mergeIntoHeld(sql, entries, inserted.keys, toEvent);
  const changes = [...inserted.changes, ...merged];
  await widenSessions(sql, timesOf(changes));
  await applyTotals(sql, changes);
  const sightings: FieldSighting[] = [];
  for (const { projectId, after } of changes) {
    if (after !== undefined) sightings.push(...fields.unseen(projectId, after));
  }
  for (const [projectId, group] of Map.groupBy(sightings, (sighting) => sighting.projectId)) {
    await fields.record(sql, projectId, group);
  }
  await onWritten?.(sql, changes.filter(isWritten));
  return sightings;
}

function isWritten(change: TotalsChange): change is TotalsChange & WrittenEvent {
  return change.after !== undefined;
}

/** Widest times of the events of each session that this commit has not left as wide itself. */
function timesOf(changes: readonly TotalsChange[]): SessionTimes[] {
  const times = new Map<string, SessionTimes>();
  for (const { projectId, after } of changes) {
    if (after === undefined || after.event_type === "session") continue;
    const key = keyOf(projectId, after.session_id);
    const start = toMicroseconds(after.start_time);
    // An event without an end still shows that the session was alive when it started.
    const end = after.end_time === null ? start : toMicroseconds(after.end_time);
    const known = times.get(key);
    times.set(key, {
      project_id: projectId,
      event_id: after.session_id,
      start_time_us: Math.min(known?.start_time_us ?? start, start),
      end_time_us: Math.max(known?.end_time_us ?? end, end),
    });
  }
  for (const { projectId, after } of changes) {
    if (after?.event_type !== "session" || after.end_time === null) continue;
    const key = keyOf(projectId, after.event_id);
    const wanted = times.get(key);
    if (wanted === undefined || toMicroseconds(after.start_time) > wanted.start_time_us) continue;
    if (toMicroseconds(after.end_time) >= wanted.end_time_us) times.delete(key);
  }
  return [...times.values()];
}

/** An event of the fields given for it, its start where none is among them. */
type ToEvent = (eventId: string, fields: EventFields, startMs: number) => StoredEvent;

type Inserted = { readonly keys: ReadonlySet<string>; readonly changes: readonly TotalsChange[] };

async function insertNew(sql: Sql, entries: Entries, toEvent: ToEvent): Promise<Inserted> {
  const rows: Record<string, unknown>[] = [];
  const made = new Map<string, TotalsChange>();
  for (const [key, entry] of entries) {
    const { event, pending } = foldEntry(entry, undefined, toEvent);
    if (event !== undefined) {
      made.set(key, { projectId: entry.projectId, before: undefined, after: event });
      rows.push(toRow(entry.projectId, event));
    } else if (pending !== undefined) {
      rows.push(pendingRow(entry.projectId, entry.eventId, pending));
    }
  }
  const keys = new Set<string>();
  const changes: TotalsChange[] = [];
  for (const { project_id, event_id } of await insertEvents(sql, rows)) {
    const key = `${project_id} ${event_id}`;
    keys.add(key);
    const change = made.get(key);
    if (change !== undefined) changes.push(change);
  }
  return { keys, changes };
}

async function mergeIntoHeld(
  sql: Sql,
  entries: Entries,
  insertedKeys: ReadonlySet<string>,
  toEvent: ToEvent,
): Promise<readonly TotalsChange[]> {
  const remaining = [...entries].filter(([key]) => !insertedKeys.has(key));
  const held = await lockRemaining(sql, remaining);
  const rows: Record<string, unknown>[] = [];
  const changes: TotalsChange[] = [];
  for (const [key, entry] of remaining) {
    const { projectId, eventId } = entry;
    const found = held.get(key);
    if (found === undefined) {
      if (wasDeletedMeanwhile(entry)) throw deletedMeanwhile();
      continue;
    }
    const before = "event" in found ? found.event : undefined;
    const folded =
      "event" in found
        ? mergeEntry(entry, found.event, toEvent)
        : foldEntry(entry, found.pending, toEvent);
    if (folded.event !== undefined) {
      rows.push(toRow(projectId, folded.event));
      changes.push({ projectId, before, after: folded.event });
    } else if (folded.pending !== undefined) {
      rows.push(pendingRow(projectId, eventId, folded.pending));
    }
  }
  await replaceEvents(sql, rows);
  return changes;
}

// Seen by the insert, gone before the lock: the transaction runs again and inserts.
function wasDeletedMeanwhile({ changes }: Entry): boolean {
  return changes.some(({ outcome }) => outcome === "applied");
}

function deletedMeanwhile(): Error {
  return Object.assign(new Error("an event was deleted while it was merged"), { code: "40001" });
}

type Folded = { event: StoredEvent | undefined; pending: Pending | undefined };

/** What an id without a visible event becomes: an event, an update that waits, or nothing. */
function foldEntry(entry: Entry, held: Pending | undefined, toEvent: ToEvent): Folded {
  const { event, pending } = foldChanges(entry.changes, held);
  const made = withStub(entry, event, pending);
  if (made === undefined) return { event: undefined, pending };
  return { event: toEvent(entry.eventId, made, entry.receivedAtMs), pending: undefined };
}

function mergeEntry(entry: Entry, stored: StoredEvent, toEvent: ToEvent): Folded {
  const merged = withStub(entry, mergeChanges(toEventFields(stored), entry.changes), undefined);
  return {
    event: merged && toEvent(entry.eventId, merged, stored.start_time),
    pending: undefined,
  };
}

// The session that this commit's events name: made, or given the source and name that it lacks. One
// that is stored has a source.
function withStub(
  entry: Entry,
  event: EventFields | undefined,
  pending: Pending | undefined,
): EventFields | undefined {
  const { stub } = entry;
  if (stub === undefined) return event;
  if (event === undefined) return pending === undefined ? stub : applyPending(stub, pending);
  if (event.event_type !== "session") throw sessionIsAnEvent(entry.eventId);
  const { source = stub.source } = event;
  const isNameless = event.event_name === undefined || event.event_name === unknownName;
  const name = isNameless ? stub.event_name : undefined;
  if (source === event.source && name === undefined) return event;
  return {
    ...event,
    ...(source !== undefined && { source }),
    ...(name !== undefined && { event_name: name }),
  };
}

function sessionIsAnEvent(sessionId: string): ServiceError {
  const message = `session_id: ${sessionId} is the id of an event that is no session`;
  return new ServiceError("INVALID_ARGUMENT", message);
}

// Most stubs meet a session that is there and has its name: those are neither read nor locked.
async function lockRemaining(
  sql: Sql,
  remaining: readonly (readonly [string, Entry])[],
): Promise<Map<string, Held>> {
  const held = new Map<string, Held>();
  const byProject = Map.groupBy(remaining, ([, entry]) => entry.projectId);
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
  const open: string[] = [];
  for (const { eventId, stub } of stubs) {
    const type = nameless.get(eventId);
    if (type === undefined) continue;
    if (type !== "session" && type !== "pending") throw sessionIsAnEvent(eventId);
    if (type === "pending" || stub?.event_name !== undefined) open.push(eventId);
  }
  return open;
}

function collectEntries(sets: readonly WriteSet[]): { entries: Entries; changes: Change[][] } {
  const entries: Entries = new Map();
  const changes = sets.map((set) =>
    set.writes.map(({ event_id, ...fields }) => {
      const change: Change = { kind: set.kind, fields, outcome: "applied" };
      if (set.kind === "create" && fields.event_type !== "session") {
        if (fields.session_id === event_id) return { ...change, outcome: "refused" as const };
        addStub(entries, set, fields);
      }
      entryOf(entries, set, event_id).changes.push(change);
      return change;
    }),
  );
  return { entries, changes };
}

function entryOf(entries: Entries, set: WriteSet, eventId: string): Entry {
  const { projectId, receivedAtMs } = set;
  const key = keyOf(projectId, eventId);
  let entry = entries.get(key);
  if (entry === undefined) {
    entry = { projectId, eventId, changes: [], stub: undefined, receivedAtMs };
    entries.set(key, entry);
  }
  return entry;
}

// The session of an event: there once the event is, whether or not anybody started it.
function addStub(entries: Entries, set: WriteSet, fields: EventFields): void {
  const sessionId = fields.session_id;
  if (sessionId === undefined) return;
  const entry = entryOf(entries, set, sessionId);
  const start = fields.start_time ?? set.receivedAtMs;
  const end = fields.end_time ?? start;
  const name = set.sessionNames.get(sessionId);
  entry.stub = {
    event_type: "session",
    session_id: sessionId,
    source: fields.source ?? unknownName,
    ...entry.stub,
    start_time: Math.min(entry.stub?.start_time ?? start, start),
    end_time: Math.max(entry.stub?.end_time ?? end, end),
    ...(name !== undefined && { event_name: name }),
  };
}

/** A row that no reader sees: the updates lie whole in `inputs`. */
function pendingRow(projectId: string, eventId: string, fields: Pending) {
  const row = toRow(
    projectId,
    toStoredEvent(eventId, { session_id: eventId }, 0, () => null),
  );
  return { ...row, event_type: "pending", inputs: fields };
}
