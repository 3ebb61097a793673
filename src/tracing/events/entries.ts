// Gathers one commit's changes by id, with the session that its events name, and settles clashes
// between its writes in their order. Source: docs/decisions.md, 5 and 6.

import { type EventFields, isSession, lastTimeOf, type Pricing, unknownName } from "./event.ts";
import {
  applyPending,
  type Change,
  idOfSession,
  type Pending,
  type Refusal,
  sessionIsAnEvent,
} from "./merge.ts";
import { keyOf } from "./stored-event.ts";
import type { WriteSet } from "./write-set.ts";

/** One request's writes with their ids. */
export type Submitted = {
  readonly set: WriteSet;
  readonly changes: readonly { readonly eventId: string; readonly change: Change }[];
};

/** Changes of one commit to one id. */
export type Entry = {
  readonly projectId: string;
  readonly eventId: string;
  readonly changes: Change[];
  /** Whether the commit's writes make the id a session; undefined if none says. */
  isSession: boolean | undefined;
  /** Session that events of this commit name, in the form it is created in if absent. */
  stub: EventFields | undefined;
  /** Writes of these events. */
  readonly members: Change[];
  readonly receivedAtMs: number;
  readonly pricing: Pricing;
};

export type Entries = ReadonlyMap<string, Entry>;

/** Refused writes of a commit; nothing of them is stored. */
export type Refusals = ReadonlyMap<Change, Refusal>;

/** Returns the writes of a request as changes by id. */
export function toSubmitted(set: WriteSet): Submitted {
  const changes = set.writes.map((fields) => {
    const change: Change = { kind: set.kind, fields, outcome: "applied" };
    return { eventId: fields.event_id, change };
  });
  return { set, changes };
}

/**
 * Gathers the writes by id, without those in `refused`. If two writes use one id as a session and
 * as another event, the second is refused and returned among `clashes`.
 */
export function collectEntries(
  submitted: readonly Submitted[],
  refused: Refusals,
): { entries: Entries; clashes: Refusals } {
  const entries = new Map<string, Entry>();
  const clashes = new Map<Change, Refusal>();
  for (const { set, changes } of submitted) {
    for (const { eventId, change } of changes) {
      const known = refused.get(change);
      const clash = known ? undefined : addChange(entries, set, eventId, change);
      if (clash !== undefined) clashes.set(change, clash);
      change.outcome = known ?? clash ?? "applied";
    }
  }
  return { entries, clashes };
}

function addChange(
  entries: Map<string, Entry>,
  set: WriteSet,
  eventId: string,
  change: Change,
): Refusal | undefined {
  const entry = entryOf(entries, set, eventId);
  if (change.kind === "create") {
    const clash = claimIds(entries, set, entry, change);
    if (clash !== undefined) return clash;
  }
  entry.changes.push(change);
  return undefined;
}

// An id belongs to a session or to another event, never both.
function claimIds(
  entries: Map<string, Entry>,
  set: WriteSet,
  entry: Entry,
  change: Change,
): Refusal | undefined {
  const { fields } = change;
  const makesSession = isSession(fields);
  if (entry.isSession !== undefined && entry.isSession !== makesSession) {
    return makesSession ? sessionIsAnEvent(entry.eventId) : idOfSession;
  }
  if (!makesSession && fields.session_id !== undefined) {
    if (fields.session_id === entry.eventId) return idOfSession;
    const session = entryOf(entries, set, fields.session_id);
    if (session.isSession === false) return sessionIsAnEvent(fields.session_id);
    session.isSession = true;
    session.members.push(change);
    widenStub(session, set, fields);
  }
  entry.isSession = makesSession;
  return undefined;
}

function entryOf(entries: Map<string, Entry>, set: WriteSet, eventId: string): Entry {
  const { projectId, receivedAtMs, pricing } = set;
  const key = keyOf(projectId, eventId);
  let entry = entries.get(key);
  if (entry === undefined) {
    const asked = { changes: [], isSession: undefined, stub: undefined, members: [] };
    entry = { projectId, eventId, ...asked, receivedAtMs, pricing };
    entries.set(key, entry);
  }
  return entry;
}

// The session of an event exists as soon as the event does, whether or not it was started.
function widenStub(session: Entry, set: WriteSet, fields: EventFields): void {
  const start = fields.start_time ?? set.receivedAtMs;
  const end = lastTimeOf({
    start_time: start,
    end_time: fields.end_time,
    duration: fields.duration,
  });
  const name = set.sessionNames.get(session.eventId);
  session.stub = {
    event_type: "session",
    event_id: session.eventId,
    session_id: session.eventId,
    source: fields.source ?? unknownName,
    ...session.stub,
    start_time: Math.min(session.stub?.start_time ?? start, start),
    end_time: Math.max(session.stub?.end_time ?? end, end),
    ...(name !== undefined && { event_name: name }),
  };
}

/**
 * Returns the session that an entry's stub creates or completes: an existing session gets the
 * source and the name that it lacks. Returns the event if there is no stub or the event is not a
 * session.
 */
export function withStub(
  { stub }: Entry,
  event: EventFields | undefined,
  pending: Pending | undefined,
): EventFields | undefined {
  if (stub === undefined) return event;
  if (event === undefined) return pending === undefined ? stub : applyPending(stub, pending);
  if (!isSession(event)) return event;
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
