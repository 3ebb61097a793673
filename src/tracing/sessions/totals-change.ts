// Turns the events that a commit changed into the change of their sessions' totals.
// Called by events/apply-writes.ts and by deletions, in their transaction.
// Source: docs/decisions.md, 5 and 18.

import type { Sql } from "../../postgres/database.ts";
import type { StoredEvent } from "../events/event.ts";
import { toMicroseconds } from "../events/stored-event.ts";
import { addTotals, emptyTotals, type Totals, totalsOf } from "./totals.ts";
import { addToTotals, recountTimes, type TotalsRow } from "./store.ts";

/** An event before and after a commit; undefined where it was not there. */
export type TotalsChange = {
  readonly projectId: string;
  readonly before: StoredEvent | undefined;
  readonly after: StoredEvent | undefined;
};

type Sum = {
  readonly projectId: string;
  readonly sessionId: string;
  totals: Totals;
  firstStartUs: number | null;
  lastEndUs: number | null;
  /** True when an event's times shrank, so that the widest must be looked up again. */
  hasShrunk: boolean;
};

/** Adds the changes to the totals of their sessions, in the order of their keys. */
export async function applyTotals(sql: Sql, changes: readonly TotalsChange[]): Promise<void> {
  const sums = new Map<string, Sum>();
  for (const { projectId, before, after } of changes) {
    if (before !== undefined) addEvent(sums, projectId, before, -1);
    if (after !== undefined) addEvent(sums, projectId, after, 1);
    const sum = before && sums.get(`${projectId} ${before.session_id}`);
    if (sum && before.event_type !== "session" && hasShrunk(before, after)) sum.hasShrunk = true;
  }
  if (sums.size === 0) return;
  const sorted = [...sums.values()].toSorted(byKey);
  await addToTotals(sql, sorted.map(toTotalsRow));
  for (const { projectId, sessionId } of sorted.filter((sum) => sum.hasShrunk)) {
    await recountTimes(sql, projectId, sessionId);
  }
}

function addEvent(sums: Map<string, Sum>, projectId: string, event: StoredEvent, sign: 1 | -1) {
  const key = `${projectId} ${event.session_id}`;
  const sum = sums.get(key) ?? {
    projectId,
    sessionId: event.session_id,
    totals: emptyTotals,
    firstStartUs: null,
    lastEndUs: null,
    hasShrunk: false,
  };
  sums.set(key, sum);
  sum.totals = addTotals(sum.totals, totalsOf(event), sign);
  if (sign === -1 || event.event_type === "session") return;
  const startUs = toMicroseconds(event.start_time);
  const endUs = lastMicrosecond(event);
  sum.firstStartUs = Math.min(sum.firstStartUs ?? startUs, startUs);
  sum.lastEndUs = Math.max(sum.lastEndUs ?? endUs, endUs);
}

// An event without an end still shows that the session was alive when it started.
function lastMicrosecond(event: StoredEvent): number {
  return toMicroseconds(event.end_time ?? event.start_time);
}

function hasShrunk(before: StoredEvent, after: StoredEvent | undefined): boolean {
  return (
    after === undefined ||
    after.session_id !== before.session_id ||
    after.start_time > before.start_time ||
    lastMicrosecond(after) < lastMicrosecond(before)
  );
}

function byKey(a: Sum, b: Sum): number {
  const [left, right] = [`${a.projectId} ${a.sessionId}`, `${b.projectId} ${b.sessionId}`];
  return left < right ? -1 : left > right ? 1 : 0;
}

function toTotalsRow(sum: Sum): TotalsRow {
  return {
    project_id: sum.projectId,
    session_id: sum.sessionId,
    first_start_us: sum.firstStartUs,
    last_end_us: sum.lastEndUs,
    ...sum.totals,
  };
}
