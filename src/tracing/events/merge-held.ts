// Merges a commit's changes into the stored events, in portions, so that a commit of any size holds
// few of them at once. Source: docs/decisions.md, 5 and 6.

import type { Pacer } from "../../base/pacer.ts";
import { eventBytesMax, listItemsMax } from "../../base/limits.ts";
import type { Sql } from "../../postgres/database.ts";
import type { CataloguedEvent } from "../fields/fields.ts";
import { type Entry, type Refusals, withStub } from "./entries.ts";
import { type EventFields, isSession, type StoredEvent } from "./event.ts";
import {
  type CountedEvent,
  countHeld,
  countMerged,
  fieldsOfHeld,
  type HeldEvent,
  mergeCounted,
} from "./held-event.ts";
import {
  type Change,
  foldChanges,
  isRefusal,
  mergeChanges,
  mergeEvent,
  type Pending,
  type Refusal,
  sessionIsAnEvent,
} from "./merge.ts";
import * as mergeStore from "./merge-store.ts";
import { type Row, toStatements } from "./row-statements.ts";
import { listNamelessSessions, listSessionSources } from "./store.ts";
import { toMergeRow, toPendingRow, toRow, toStoredEvent } from "./stored-event.ts";

/** Change of one event by a commit. */
export type WrittenChange = {
  readonly projectId: string;
  readonly before: CountedEvent | undefined;
  readonly after: CountedEvent;
  /** The part of the event that the commit wrote, for the field catalogue. */
  readonly given: CataloguedEvent;
};

export type MergeOptions = {
  readonly pacer: Pacer;
  /** True if the commit is of one request. */
  readonly isAlone: boolean;
};

/** Refused writes, and writes of large events. If there are any, nothing may be committed. */
export type Faults = { readonly refusals: Refusals; readonly large: ReadonlySet<Change> };

export type Merged = Faults & { readonly changes: readonly WrittenChange[] };

/** Maximum events locked at a time. */
const portionEvents = 500;

/** Maximum ratio of a value's size to its compressed size, that of LZ4. */
export const compressionMax = 255;

/**
 * Maximum stored bytes of waiting updates, or of lists of children, read at a time: 64 MB of text.
 */
const portionBytes = 250_000;

/** Maximum length of a row's JSON: the event's buckets, and its names, error and children. */
export const rowLengthMax = eventBytesMax + 32_000_000;

/** State of merging a commit. */
export type Merging = Faults & {
  readonly sql: Sql;
  readonly options: MergeOptions;
  readonly refusals: Map<Change, Refusal>;
  readonly large: Set<Change>;
  readonly changes: WrittenChange[];
};

/** A locked event with the commit's changes to it. */
type Pair = { readonly entry: Entry; readonly held: HeldEvent };

/**
 * Merges entries whose rows the insert found present. Nothing may be committed if some are refused
 * or large. A separate commit merges a large event, so that other requests do not wait.
 */
export async function mergeIntoHeld(
  sql: Sql,
  entries: readonly Entry[],
  options: MergeOptions,
): Promise<Merged> {
  const merging: Merging = {
    sql,
    options,
    refusals: new Map(),
    large: new Set(),
    changes: [],
  };
  const byProject = Map.groupBy(entries, (entry) => entry.projectId);
  for (const projectId of [...byProject.keys()].toSorted()) {
    const open = await openEntries(merging, byProject.get(projectId) ?? []);
    open.sort((a, b) => (a.eventId < b.eventId ? -1 : 1));
    for (let at = 0; at < open.length; at += portionEvents) {
      await mergePortion(merging, projectId, open.slice(at, at + portionEvents));
    }
  }
  return merging;
}

// Most stubs meet an existing session with a name, which is neither read nor locked. A stub is
// needed if an early update waits for it, or if this commit knows its name.
async function openEntries({ sql, refusals }: Merging, entries: readonly Entry[]) {
  const open = entries.filter((entry) => entry.changes.length > 0);
  const stubs = entries.filter(({ changes, stub }) => changes.length === 0 && stub !== undefined);
  const [first] = stubs;
  if (first === undefined) return open;
  const ids = stubs.map((entry) => entry.eventId);
  const nameless = await listNamelessSessions(sql, first.projectId, ids);
  for (const entry of stubs) {
    const kind = nameless.get(entry.eventId);
    if (kind === undefined) continue;
    if (kind === "event") refuseMembers(entry, refusals);
    else if (kind === "pending" || entry.stub?.event_name !== undefined) open.push(entry);
  }
  return open;
}

/** Throws, so that the transaction runs again, if a session that was found is deleted by now. */
export async function requireSessions(sql: Sql, found: readonly Entry[]): Promise<void> {
  const stubs = found.filter(({ changes, stub }) => changes.length === 0 && stub !== undefined);
  for (const [projectId, ofProject] of Map.groupBy(stubs, (entry) => entry.projectId)) {
    const ids = ofProject.map((entry) => entry.eventId);
    if ((await listSessionSources(sql, projectId, ids)).size < ids.length) throw deletedMeanwhile();
  }
}

async function mergePortion(
  merging: Merging,
  projectId: string,
  entries: readonly Entry[],
): Promise<void> {
  const ids = entries.map((entry) => entry.eventId);
  const rows = await mergeStore.lockHeld(merging.sql, projectId, ids);
  const held = new Map(rows.map((one) => [one.event_id, one]));
  const pairs: Pair[] = [];
  for (const entry of entries) {
    const found = held.get(entry.eventId);
    if (found !== undefined && isLarge(found) && !merging.options.isAlone) {
      for (const change of entry.changes) merging.large.add(change);
    } else if (found !== undefined) pairs.push({ entry, held: found });
    else if (wasDeletedMeanwhile(entry)) throw deletedMeanwhile();
  }
  for (const group of groupByBytes(pairs)) await mergeGroup(merging, projectId, group);
}

// The insert found the row and the lock did not: the transaction runs again and inserts it.
function wasDeletedMeanwhile({ changes }: Entry): boolean {
  return changes.some(({ outcome }) => outcome === "applied");
}

function deletedMeanwhile(): Error {
  return Object.assign(new Error("an event was deleted while it was merged"), { code: "40001" });
}

/** Groups events by the bytes to read of them. */
function groupByBytes(pairs: readonly Pair[]): Pair[][] {
  const groups: Pair[][] = [];
  let bytes = Infinity;
  for (const pair of pairs) {
    bytes += readBytesOf(pair);
    if (bytes > portionBytes) {
      groups.push([]);
      bytes = readBytesOf(pair);
    }
    groups.at(-1)?.push(pair);
  }
  return groups;
}

function readBytesOf({ entry, held }: Pair): number {
  if (held.event_type === "pending") return held.bucketBytes;
  return addsChildren(entry) ? held.childrenBytes : 0;
}

function addsChildren({ changes }: Entry): boolean {
  return changes.some(({ fields }) => fields.children_ids !== undefined);
}

async function mergeGroup(
  merging: Merging,
  projectId: string,
  pairs: readonly Pair[],
): Promise<void> {
  const { sql, options } = merging;
  const waiting = pairs.filter(({ held }) => held.event_type === "pending");
  const listing = pairs.filter(({ entry }) => addsChildren(entry));
  const pending =
    waiting.length > 0 ? await mergeStore.listPending(sql, projectId, idsOf(waiting)) : undefined;
  const children =
    listing.length > 0 ? await mergeStore.listChildren(sql, projectId, idsOf(listing)) : undefined;
  const rows = new Map<Row, Pair>();
  for (const pair of pairs) {
    const { eventId } = pair.entry;
    const row =
      pair.held.event_type === "pending"
        ? foldPending(merging, pair.entry, pending?.get(eventId))
        : await mergePair(merging, pair, pair.held.event_type, children?.get(eventId));
    if (row !== undefined) rows.set(row, pair);
    if (options.pacer.due()) await options.pacer.rest();
  }
  await writeRows(merging, rows);
}

function idsOf(pairs: readonly Pair[]): string[] {
  return pairs.map(({ entry }) => entry.eventId);
}

/**
 * Returns the row of an id under which only updates wait: an event now, or further waiting updates.
 */
function foldPending({ changes }: Merging, entry: Entry, held: Pending | undefined) {
  const { event, pending } = foldEntry(entry, held);
  if (event !== undefined) {
    changes.push({ projectId: entry.projectId, before: undefined, after: event, given: event });
    return toWholeRow(toRow(entry.projectId, event));
  }
  if (pending === undefined || entry.changes.every(({ outcome }) => outcome === "absent")) return;
  return toWholeRow(toPendingRow(entry, pending));
}

function toWholeRow(row: Row): Row {
  return { ...row, is_whole: true, sets_error: true };
}

/**
 * Folds the changes to an id without a visible event: into an event, a waiting update, or nothing.
 */
export function foldEntry(
  entry: Entry,
  held: Pending | undefined,
): { event: StoredEvent | undefined; pending: Pending | undefined } {
  const { event, pending } = foldChanges(entry.changes, held);
  const made = withStub(entry, event, pending);
  if (made === undefined) return { event: undefined, pending };
  return { event: toEvent(entry, made, entry.receivedAtMs), pending: undefined };
}

/** Returns the event of the given fields; `startMs` is its default start. */
function toEvent({ eventId, pricing }: Entry, fields: EventFields, startMs: number): StoredEvent {
  return toStoredEvent(eventId, fields, startMs, pricing.estimateCost);
}

/**
 * Returns the row that merges an entry's changes into its event; undefined if they change nothing.
 */
export async function mergePair(
  merging: Merging,
  { entry, held }: Pair,
  heldType: StoredEvent["event_type"],
  children: readonly string[] | undefined,
): Promise<Row | undefined> {
  const base = { ...fieldsOfHeld(held, heldType), ...(children && { children_ids: children }) };
  const changed = mergeChanges(base, entry.changes);
  const given = withStub(entry, changed, undefined) ?? changed;
  noteRefusals(merging, entry, base);
  const isChanged = entry.changes.some(({ outcome }) => outcome === "applied");
  if (!isChanged && given === changed) return undefined;
  if ((given.children_ids?.length ?? 0) > listItemsMax) {
    noteTooLarge(merging, entry, `children_ids: the event would list more than ${listItemsMax}`);
    return undefined;
  }
  const config = mergeCounted("config", held.config, given.config);
  const metadata = mergeCounted("metadata", held.metadata, given.metadata);
  const event = toEvent(entry, { ...given, config, metadata }, held.start_time);
  merging.changes.push({
    projectId: entry.projectId,
    before: countHeld(held, heldType),
    after: countMerged(held, event, given),
    given: await toCatalogued(merging, entry, held, given, event),
  });
  return toMergeRow(entry.projectId, event, given);
}

// If an event's type changes, its keys are new to the catalogue under the new type.
async function toCatalogued(
  { sql }: Merging,
  { projectId }: Entry,
  held: HeldEvent,
  given: EventFields,
  { event_type, start_time }: StoredEvent,
): Promise<CataloguedEvent> {
  const written = { ...given, event_type, start_time };
  if (event_type === held.event_type || isLarge(held)) return written;
  const payload = await mergeStore.findBuckets(sql, projectId, held.event_id);
  return { ...mergeEvent(payload, given), event_type, start_time };
}

/** Records the new events that the merge refused, and events whose session is another event. */
function noteRefusals({ refusals }: Merging, entry: Entry, base: EventFields): void {
  for (const change of entry.changes) {
    if (change.kind === "create" && isRefusal(change.outcome)) refusals.set(change, change.outcome);
  }
  if (!isSession(base)) refuseMembers(entry, refusals);
}

function refuseMembers({ members, eventId }: Entry, refusals: Map<Change, Refusal>): void {
  for (const member of members) refusals.set(member, sessionIsAnEvent(eventId));
}

/** Returns whether an event may exceed the maximum size once decompressed. */
function isLarge({ bucketBytes }: HeldEvent): boolean {
  return bucketBytes * compressionMax > eventBytesMax;
}

// Among writes of several requests, the one that is too much is unknown: each is tried alone.
function noteTooLarge({ refusals, large, options }: Merging, entry: Entry, cause: string): void {
  for (const change of entry.changes) {
    if (options.isAlone) refusals.set(change, { cause });
    else large.add(change);
  }
}

async function writeRows(merging: Merging, rows: ReadonlyMap<Row, Pair>): Promise<void> {
  const { options, refusals, large } = merging;
  const statements = toStatements([...rows.keys()], {
    pacer: options.pacer,
    rowLengthMax,
    onTooLong: (row) => {
      const pair = rows.get(row);
      if (pair !== undefined) noteTooLarge(merging, pair.entry, tooLarge);
    },
  });
  for await (const statement of statements) {
    // With faults the commit is rolled back, so writing is useless.
    if (refusals.size > 0 || large.size > 0) continue;
    await writeStatement(
      merging,
      statement.text,
      statement.rows.flatMap((row) => rows.get(row) ?? []),
    );
  }
}

async function writeStatement(
  merging: Merging,
  text: string,
  pairs: readonly Pair[],
): Promise<void> {
  const [first] = pairs;
  if (first === undefined) return;
  // Only events that may be too large are measured, because measuring makes Postgres write them out
  // as text.
  const measured = pairs.filter(
    ({ held }) =>
      held.event_type !== "pending" &&
      held.bucketBytes * compressionMax + text.length > eventBytesMax,
  );
  const { projectId } = first.entry;
  const ids = await mergeStore.mergeRows(merging.sql, projectId, text, {
    eventIds: idsOf(pairs),
    measured: idsOf(measured),
    bytesMax: eventBytesMax,
  });
  const larger = new Set(ids);
  for (const { entry } of measured) {
    if (larger.has(entry.eventId)) noteTooLarge(merging, entry, tooLarge);
  }
}

/** Cause of a refused write whose event would become too large. */
export const tooLarge = `the event would take more than ${eventBytesMax} bytes; send a new event`;
