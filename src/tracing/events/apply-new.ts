// Stores a commit of new events in one statement (migration 0037), the common case of small writes.
// Every other commit is left to apply-writes.ts.

import { LRUCache } from "lru-cache";
import { commitGroupBytesMax } from "../../base/limits.ts";
import { createPacer, type Pacer } from "../../base/pacer.ts";
import type { Database } from "../../postgres/database.ts";
import { codeOf } from "../../base/error-code.ts";
import { toTotalsJson } from "../sessions/store.ts";
import { totalsTermsOf } from "../sessions/totals-change.ts";
import { bytesOfRequests, type Derivations, timesOf } from "./apply-writes.ts";
import type { Outcomes } from "./commit-queue.ts";
import { collectEntries, type Submitted, toSubmitted } from "./entries.ts";
import { lastTimeOf, type StoredEvent } from "./event.ts";
import { hoursOf } from "./mark-store.ts";
import { foldEntry, type WrittenChange } from "./merge-held.ts";
import { isLong } from "./row-json.ts";
import { toOneStatement } from "./row-statements.ts";
import { keyOf, toCells, toMicroseconds } from "./stored-event.ts";
import { storeNewEvents, type Stub } from "./store.ts";
import { mustHear, type WriteSet } from "./write-set.ts";

/**
 * Maximum bytes of a commit of large events. Larger commits gain nothing: Postgres takes a fifth
 * more processor for 100 events of 20 KB.
 */
const bytesMax = 1_000_000;

/** Maximum bytes of memory of a small event; a commit of those may be of any size. */
const smallEventBytesMax = 10_000;

/**
 * Time in which a project whose commit met an existing event takes the general way: each failure
 * costs the work of the statement, for neighbours in its commit too.
 */
const mergingMs = 5_000;

/** Maximum projects that are remembered for that time. */
const mergingMax = 1_000;

/**
 * Applies and commits several requests' writes if they only create events, of known shape and for
 * no listener but the evaluation queue, and no event exists. Returns the outcomes of each request's
 * writes; undefined if nothing was stored. Does nothing inside a transaction, which a failure would
 * end.
 */
export type ApplyNew = (sets: readonly WriteSet[]) => Promise<readonly Outcomes[] | undefined>;

export function createApplyNew(database: Database, derivations: Derivations): ApplyNew {
  const { fields, listener } = derivations;
  const merging = new LRUCache<string, true>({ max: mergingMax, ttl: mergingMs });

  const isWanted = (sets: readonly WriteSet[]): boolean =>
    sets.some(({ projectId }) => mustHear(listener, projectId));

  function mayApply(sets: readonly WriteSet[]): boolean {
    if (database.isInTransaction() || isWanted(sets)) return false;
    const events = sets.reduce((sum, { writes }) => sum + writes.length, 0);
    const room = Math.max(bytesMax, Math.min(events * smallEventBytesMax, commitGroupBytesMax));
    if (bytesOfRequests(sets, 0) > room) return false;
    return sets.every(
      ({ kind, projectId, writes, bytes }) =>
        kind === "create" &&
        !merging.has(projectId) &&
        (bytes !== undefined || !isLong(writes, bytesMax)),
    );
  }

  /** Returns the rows and the changes of new events of known shape; undefined for other writes. */
  async function build(submitted: readonly Submitted[], pacer: Pacer): Promise<Built | undefined> {
    const { entries, clashes } = collectEntries(submitted, new Map());
    if (clashes.size > 0) return undefined;
    const changes: WrittenChange[] = [];
    const rows: (readonly unknown[])[] = [];
    const stubs: Stub[] = [];
    const isTold = submitted.some(({ set }) => set.onCreated !== undefined);
    const created = new Map<string, StoredEvent>();
    for (const entry of entries.values()) {
      // Two writes of one id may name two sessions, and the event belongs to the second only.
      if (entry.changes.length > 1) return undefined;
      const { projectId } = entry;
      const { event } = foldEntry(entry, undefined);
      if (event === undefined || fields.unseen(projectId, event).length > 0) return undefined;
      changes.push({ projectId, before: undefined, after: event, given: event });
      if (isTold && entry.members.length === 0)
        created.set(keyOf(projectId, event.event_id), event);
      rows.push(toCells(projectId, event));
      if (entry.changes.length === 0) stubs.push(toStub(projectId, event));
      if (pacer.due()) await pacer.rest();
    }
    // A session among the new events that its members make wider.
    if ((await timesOf(changes, pacer)).length > 0) return undefined;
    return { rows, stubs, changes, created };
  }

  /** Returns false if the statement failed for its values or for rows that exist. */
  function tryStore(rows: string, { changes, stubs }: Built): Promise<boolean> {
    const totals = toTotalsJson(totalsTermsOf(changes));
    const hours = hoursOf(changes);
    const queued = JSON.stringify(listener?.queuedOf?.(changes) ?? []);
    return tryStatement(
      () => storeNewEvents(database.sql(), { rows, totals, queued, hours }, stubs),
      ({ code, detail }) => {
        if (code === existsCode && detail) merging.set(detail, true);
      },
    );
  }

  return async (sets) => {
    if (!mayApply(sets)) return undefined;
    const pacer = createPacer();
    const submitted = sets.map(toSubmitted);
    const built = await build(submitted, pacer);
    if (built === undefined) return undefined;
    const { rows, created } = built;
    const text = await toOneStatement(rows, pacer);
    // A listener may have begun to want the events meanwhile.
    if (text === undefined || isWanted(sets)) return undefined;
    if (!(await tryStore(text, built))) return undefined;
    tellCreated(sets, created);
    return submitted.map(outcomesOf);
  };
}

/** serialization_failure; the detail is the project of an event that exists. */
const existsCode = "40001";

type RowsFault = { readonly code: string; readonly detail?: string };

type Built = {
  readonly rows: readonly (readonly unknown[])[];
  /** Sessions among the rows that no write creates. */
  readonly stubs: readonly Stub[];
  readonly changes: readonly WrittenChange[];
  /** Events alone in the commit with their id as session, by key, if a request asks for them. */
  readonly created: ReadonlyMap<string, StoredEvent>;
};

function toStub(projectId: string, event: StoredEvent): Stub {
  return {
    project_id: projectId,
    event_id: event.event_id,
    event_name: event.event_name,
    start_time_us: toMicroseconds(event.start_time),
    end_time_us: toMicroseconds(lastTimeOf(event)),
  };
}

function tellCreated(sets: readonly WriteSet[], created: Built["created"]): void {
  for (const { projectId, writes, onCreated } of sets) {
    if (onCreated === undefined) continue;
    for (const { event_id } of writes) {
      const event = created.get(keyOf(projectId, event_id));
      if (event !== undefined) onCreated(event);
    }
  }
}

/**
 * Runs a statement of a commit. Returns false, after `onFault`, if it stored nothing because of its
 * rows; throws other errors.
 */
export async function tryStatement(
  run: () => Promise<void>,
  onFault: (fault: RowsFault) => void = () => undefined,
): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    if (!isAboutRows(error)) throw error;
    onFault(error);
    return false;
  }
}

/** Returns the outcomes of a request's writes. */
export function outcomesOf({ changes }: Submitted): Outcomes {
  return changes.map(({ change }) => change.outcome);
}

/**
 * Returns true for SQLSTATE classes of bad data, broken constraints, exceeded limits, and
 * transactions to be tried again. The statement stored nothing.
 */
function isAboutRows(error: unknown): error is Error & RowsFault {
  return /^(2[123]|40|54)[0-9A-Z]{3}$/.test(codeOf(error) ?? "");
}
