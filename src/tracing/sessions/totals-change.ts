// Converts the events that a commit changed to the change of their sessions' totals.
// Source: docs/decisions.md, 18.1.

import type { Sql } from "../../postgres/database.ts";
import type { CountedEvent } from "../events/held-event.ts";
import { addToTotals, type TotalsTerms } from "./store.ts";
import { addTotals, emptyTotals, type Totals, totalsOf } from "./totals.ts";

/** An event before and after a commit; undefined if it did not exist. */
export type TotalsChange = {
  readonly projectId: string;
  readonly before: CountedEvent | undefined;
  readonly after: CountedEvent | undefined;
};

type Sum = {
  readonly projectId: string;
  readonly sessionId: string;
  totals: Totals;
  readonly costs: number[];
};

/** Adds the changes to the totals of their sessions. */
export async function applyTotals(sql: Sql, changes: readonly TotalsChange[]): Promise<void> {
  const terms = totalsTermsOf(changes);
  if (terms.length > 0) await addToTotals(sql, terms);
}

/** Returns the change of each session's totals, in the order of their keys. */
export function totalsTermsOf(changes: readonly TotalsChange[]): TotalsTerms[] {
  const sums = new Map<string, Sum>();
  for (const { projectId, before, after } of changes) {
    if (before !== undefined) addEvent(sums, projectId, before, -1);
    if (after !== undefined) addEvent(sums, projectId, after, 1);
  }
  return [...sums.values()].toSorted(byKey).map(toTerms);
}

function addEvent(sums: Map<string, Sum>, projectId: string, event: CountedEvent, sign: 1 | -1) {
  const key = `${projectId} ${event.session_id}`;
  const { session_id: sessionId } = event;
  const sum = sums.get(key) ?? { projectId, sessionId, totals: emptyTotals, costs: [] };
  sums.set(key, sum);
  const totals = totalsOf(event);
  sum.totals = addTotals(sum.totals, totals, sign);
  if (totals.cost !== 0) sum.costs.push(sign * totals.cost);
}

function byKey(a: Sum, b: Sum): number {
  const [left, right] = [`${a.projectId} ${a.sessionId}`, `${b.projectId} ${b.sessionId}`];
  return left < right ? -1 : left > right ? 1 : 0;
}

// Costs go to Postgres one by one: it adds decimals, whose sum does not depend on the order.
function toTerms({ projectId, sessionId, totals, costs }: Sum): TotalsTerms {
  const { cost: _, ...counts } = totals;
  return { project_id: projectId, session_id: sessionId, ...counts, costs };
}
