// Applies the writes of one commit in one transaction: inserts, merges, early updates, sessions,
// totals and field catalogue. An unstorable write is refused alone.
// Source: docs/decisions.md, 5, 6, 9, 17 and 18.1.

import { commitGroupBytesMax } from "../../base/limits.ts";
import type { Logger } from "../../base/logger.ts";
import { createPacer, type Pacer } from "../../base/pacer.ts";
import type { Database, Sql } from "../../postgres/database.ts";
import type { FieldCatalogue, FieldSighting } from "../fields/fields.ts";
import { applyTotals } from "../sessions/totals-change.ts";
import type { Outcomes } from "./commit-queue.ts";
import { collectEntries, type Entries, toSubmitted } from "./entries.ts";
import { isSession, lastTimeOf } from "./event.ts";
import { hoursOf, markHours } from "./mark-store.ts";
import type { Change, Refusal } from "./merge.ts";
import {
  type Faults,
  foldEntry,
  mergeIntoHeld,
  type MergeOptions,
  requireSessions,
  rowLengthMax,
  tooLarge,
  type WrittenChange,
} from "./merge-held.ts";
import { type Row, toStatements } from "./row-statements.ts";
import { keyOf, toMicroseconds, toPendingRow, toRow } from "./stored-event.ts";
import {
  endSoonIfIdle,
  insertRows,
  planForAnyProject,
  type SessionTimes,
  widenSessions,
} from "./store.ts";
import type { WriteSet, WrittenListener } from "./write-set.ts";

/** Derived data that is stored beside events and inside them. */
export type Derivations = {
  readonly fields: FieldCatalogue;
  readonly listener?: WrittenListener | undefined;
  readonly logger?: Pick<Logger, "debug"> | undefined;
};

/** Outcome of a request that was not applied and has to be committed alone. */
export const runsAlone: Outcomes = [];

/**
 * Thrown inside a commit to roll it back, because a refused write may have caused other changes.
 */
class Undone extends Error {
  readonly faults: Faults;
  constructor(faults: Faults) {
    super("writes of the commit are refused or have to be committed alone");
    this.faults = faults;
  }
}

/**
 * Maximum commits in which a write that clashed with a refused one is tried again. Without a bound,
 * a chain of events that name each other as sessions takes a commit each.
 */
const reconsideredMax = 3;

/**
 * Applies several requests' writes and commits. Returns the outcomes of each request's writes;
 * `runsAlone` for a request among several that changes a large event. Runs again without the writes
 * that the stored rows cause to be refused, so that nothing of them is stored. Runs again as a
 * whole after a deadlock between two commits.
 */
export async function applyWrites(
  database: Database,
  derivations: Derivations,
  sets: readonly WriteSet[],
): Promise<readonly Outcomes[]> {
  const submitted = sets.map(toSubmitted);
  const refused = new Map<Change, Refusal>();
  const large = new Set<Change>();
  const isSmall = isSmallCommit(sets);
  for (let attempt = 1; ; attempt += 1) {
    const isLarge = submitted.map(({ changes }) => changes.some(({ change }) => large.has(change)));
    const here = submitted.filter((_, index) => isLarge[index] === false);
    const { entries, clashes } = collectEntries(here, refused);
    try {
      // A step (savepoint), because a caller may continue with other writes after a failure.
      const sightings = await database.step((sql) =>
        apply(sql, derivations, entries, { isAlone: sets.length === 1, isSmall }),
      );
      derivations.fields.confirm(sightings);
      return submitted.map(({ changes }, index) =>
        isLarge[index] === true ? runsAlone : changes.map(({ change }) => change.outcome),
      );
    } catch (error) {
      if (!(error instanceof Undone)) throw error;
      for (const [change, refusal] of error.faults.refusals) refused.set(change, refusal);
      for (const change of error.faults.large) large.add(change);
      if (attempt < reconsideredMax) continue;
      for (const [change, refusal] of clashes) refused.set(change, refusal);
    }
  }
}

type CommitSize = {
  /** True if the commit is of one request. */
  readonly isAlone: boolean;
  /** True if its whole requests state the memory they hold, and the total fits a commit group. */
  readonly isSmall: boolean;
};

function isSmallCommit(sets: readonly WriteSet[]): boolean {
  return bytesOfRequests(sets, Infinity) <= commitGroupBytesMax;
}

/** Returns the bytes of memory that the requests of a commit hold; `unknown` for one unsaid. */
export function bytesOfRequests(sets: readonly WriteSet[], unknown: number): number {
  return sets.reduce((sum, set) => sum + (set.requestBytes ?? set.bytes ?? unknown), 0);
}

async function apply(
  sql: Sql,
  { fields, listener, logger }: Derivations,
  entries: Entries,
  { isAlone, isSmall }: CommitSize,
): Promise<FieldSighting[]> {
  const pacer = createPacer();
  const options = { pacer, isAlone };
  // Both are sent before either answer is awaited.
  const [, inserted] = await Promise.all([
    endSoonIfIdle(sql),
    insertNew(sql, entries, { ...options, isSmall }),
  ]);
  const remaining = [...entries]
    .filter(([key]) => !inserted.keys.has(key))
    .map(([, entry]) => entry);
  // Both are sent before either answer is awaited.
  const [, merged] = await Promise.all([
    remaining.length > 0 ? planForAnyProject(sql) : undefined,
    mergeIntoHeld(sql, remaining, options),
  ]);
  const faults = joinFaults(inserted, merged);
  if (faults.refusals.size > 0 || faults.large.size > 0) throw new Undone(faults);
  const changes = [...inserted.changes, ...merged.changes];
  const times = await timesOf(changes, pacer);
  if (times.length > 0 && remaining.length === 0) await planForAnyProject(sql);
  await widenSessions(sql, times);
  // Both are sent before either answer is awaited.
  await Promise.all([applyTotals(sql, changes), markHours(sql, hoursOf(changes))]);
  // The totals' lock waited for a deletion of their sessions, and lets none begin.
  await requireSessions(sql, remaining);
  const sightings = await sightingsOf(fields, changes, pacer);
  for (const [projectId, group] of Map.groupBy(sightings, (sighting) => sighting.projectId)) {
    await fields.record(sql, projectId, group);
  }
  await listener?.onWritten(sql, changes);
  const counts = { inserted: inserted.keys.size, merged: merged.changes.length };
  logger?.debug({ ...counts, sessions: times.length, fields: sightings.length }, "events merged");
  return sightings;
}

function joinFaults(a: Faults, b: Faults): Faults {
  return {
    refusals: new Map([...a.refusals, ...b.refusals]),
    large: new Set([...a.large, ...b.large]),
  };
}

async function sightingsOf(
  fields: FieldCatalogue,
  changes: readonly WrittenChange[],
  pacer: Pacer,
): Promise<FieldSighting[]> {
  const sightings: FieldSighting[] = [];
  for (const { projectId, given } of changes) {
    for (const sighting of fields.unseen(projectId, given)) sightings.push(sighting);
    if (pacer.due()) await pacer.rest();
  }
  return sightings;
}

/**
 * Returns the widest times of the events of each session, without sessions that this commit itself
 * leaves that wide.
 */
export async function timesOf(
  changes: readonly WrittenChange[],
  pacer: Pacer,
): Promise<SessionTimes[]> {
  const times = new Map<string, SessionTimes>();
  for (const { projectId, after } of changes) {
    if (pacer.due()) await pacer.rest();
    if (isSession(after)) continue;
    const key = keyOf(projectId, after.session_id);
    const start = toMicroseconds(after.start_time);
    const end = toMicroseconds(lastTimeOf(after));
    const known = times.get(key);
    times.set(key, {
      project_id: projectId,
      event_id: after.session_id,
      start_time_us: Math.min(known?.start_time_us ?? start, start),
      end_time_us: Math.max(known?.end_time_us ?? end, end),
    });
  }
  for (const { projectId, after } of changes) {
    if (!isSession(after) || after.end_time === null) continue;
    const key = keyOf(projectId, after.event_id);
    const wanted = times.get(key);
    if (wanted === undefined || toMicroseconds(after.start_time) > wanted.start_time_us) continue;
    if (toMicroseconds(after.end_time) >= wanted.end_time_us) times.delete(key);
  }
  return [...times.values()];
}

type Inserted = Faults & {
  readonly keys: ReadonlySet<string>;
  readonly changes: readonly WrittenChange[];
};

async function insertNew(
  sql: Sql,
  entries: Entries,
  { pacer, isAlone, isSmall }: MergeOptions & CommitSize,
): Promise<Inserted> {
  const made = new Map<string, WrittenChange>();
  const rows: Row[] = [];
  for (const [key, entry] of entries) {
    const { projectId } = entry;
    const { event, pending } = foldEntry(entry, undefined);
    if (event !== undefined) {
      made.set(key, { projectId, before: undefined, after: event, given: event });
      rows.push(toRow(projectId, event));
    } else if (pending !== undefined) rows.push(toPendingRow(entry, pending));
    if (pacer.due()) await pacer.rest();
  }
  const tooLong: Row[] = [];
  const onTooLong = (row: Row): unknown => tooLong.push(row);
  const keys = new Set<string>();
  const changes: WrittenChange[] = [];
  for await (const { text } of toStatements(rows, { pacer, rowLengthMax, onTooLong, isSmall })) {
    for (const { project_id, event_id } of await insertRows(sql, text)) {
      const key = `${project_id} ${event_id}`;
      keys.add(key);
      const change = made.get(key);
      if (change !== undefined) changes.push(change);
    }
  }
  return { keys, changes, ...faultsOf(entries, tooLong, isAlone) };
}

/** Returns the faults of rows that are too long. Several writes of one id add up to such a row. */
function faultsOf(entries: Entries, tooLong: readonly Row[], isAlone: boolean): Faults {
  const refusals = new Map<Change, Refusal>();
  const large = new Set<Change>();
  for (const { project_id, event_id } of tooLong) {
    for (const change of entries.get(keyOf(project_id, event_id))?.changes ?? []) {
      if (isAlone) refusals.set(change, { cause: tooLarge });
      else large.add(change);
    }
  }
  return { refusals, large };
}
