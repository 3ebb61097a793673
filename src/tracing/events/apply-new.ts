// Stores a commit of new events in one statement (migration 0018), the common case of small writes.
// Every other commit is left to apply-writes.ts.

import { createPacer } from "../../base/pacer.ts";
import type { Database } from "../../postgres/database.ts";
import { toTotalsJson } from "../sessions/store.ts";
import { totalsTermsOf } from "../sessions/totals-change.ts";
import { bytesOfRequests, type Derivations, timesOf } from "./apply-writes.ts";
import type { Outcomes } from "./commit-queue.ts";
import { collectEntries, toSubmitted } from "./entries.ts";
import { foldEntry, rowLengthMax, type ToEvent, type WrittenChange } from "./merge-held.ts";
import { type Row, toStatements } from "./row-statements.ts";
import { toRow, toStoredEvent } from "./stored-event.ts";
import { storeNewEvents } from "./store.ts";
import type { WriteSet } from "./write-set.ts";

/** Larger commits gain nothing: Postgres takes a fifth more processor for 100 events of 20 KB. */
const bytesMax = 1_000_000;

/** The same for the service's own writes, which do not state their bytes. */
const textLengthMax = 1_000_000;

/**
 * Applies and commits several requests' writes if they only create events, of known shape and for
 * no listener, and no event exists. Returns the outcomes of each request's writes; undefined if
 * nothing was stored. Not for use inside a transaction, which a failure would end.
 */
export async function applyNew(
  database: Database,
  derivations: Derivations,
  sets: readonly WriteSet[],
): Promise<readonly Outcomes[] | undefined> {
  const { fields, estimateCost, listener } = derivations;
  if (database.isInTransaction() || bytesOfRequests(sets, 0) > bytesMax) return undefined;
  for (const { kind, projectId } of sets) {
    if (kind !== "create" || listener?.wants(projectId) === true) return undefined;
  }
  const submitted = sets.map(toSubmitted);
  const { entries, clashes } = collectEntries(submitted, new Map());
  if (clashes.size > 0) return undefined;
  const pacer = createPacer();
  const toEvent: ToEvent = (eventId, given, startMs) =>
    toStoredEvent(eventId, given, startMs, estimateCost);
  const changes: WrittenChange[] = [];
  const rows: Row[] = [];
  for (const entry of entries.values()) {
    // Writes of one id may name different sessions, of which only the last gets the event.
    if (entry.changes.length > 1) return undefined;
    const { projectId } = entry;
    const { event } = foldEntry(entry, undefined, toEvent);
    if (event === undefined || fields.unseen(projectId, event).length > 0) return undefined;
    changes.push({ projectId, before: undefined, after: event, given: event });
    const row = toRow(projectId, event);
    rows.push(entry.changes.length > 0 ? row : { ...row, is_stub: true });
    if (pacer.due()) await pacer.rest();
  }
  // A session among the new events that its members make wider.
  if ((await timesOf(changes, pacer)).length > 0) return undefined;
  const onTooLong = (): void => undefined;
  const isSmall = bytesOfRequests(sets, Infinity) <= bytesMax;
  const statements = toStatements(rows, { pacer, rowLengthMax, onTooLong, isSmall });
  for await (const { text, rows: taken } of statements) {
    if (taken.length < rows.length || text.length > textLengthMax) return undefined;
    const isStored = await tryStore(database, text, toTotalsJson(totalsTermsOf(changes)));
    return isStored ? submitted.map(outcomesOf) : undefined;
  }
  return undefined;
}

function outcomesOf({ changes }: ReturnType<typeof toSubmitted>): Outcomes {
  return changes.map(({ change }) => change.outcome);
}

/** Returns false if the statement failed for its values or for rows that exist. */
async function tryStore(database: Database, rows: string, totals: string): Promise<boolean> {
  try {
    await storeNewEvents(database.sql(), rows, totals);
    return true;
  } catch (error) {
    if (isAboutRows(error)) return false;
    throw error;
  }
}

/**
 * Returns true for SQLSTATE classes of bad data, broken constraints, exceeded limits, and
 * transactions to be tried again. The statement stored nothing.
 */
function isAboutRows(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^(2[123]|40|54)[0-9A-Z]{3}$/.test(code);
}
