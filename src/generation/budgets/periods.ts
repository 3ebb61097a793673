// Periods of budgets: days and months in UTC.

import type { BudgetPeriod, BudgetRow, SpendKey } from "./store.ts";

export type Span = { readonly start: Date; readonly end: Date };

/** Returns the period that a time is in. */
export function spanOf(period: BudgetPeriod, timeMs: number): Span {
  const time = new Date(timeMs);
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()];
  if (period === "MONTH") {
    return {
      start: new Date(Date.UTC(year, month, 1)),
      end: new Date(Date.UTC(year, month + 1, 1)),
    };
  }
  return {
    start: new Date(Date.UTC(year, month, day)),
    end: new Date(Date.UTC(year, month, day + 1)),
  };
}

/** Returns the key of the spend of a budget in the period that contains a time. */
export function keyOf({ id, projectId, period }: BudgetRow, timeMs: number): SpendKey {
  return { projectId, budgetId: id, periodStart: spanOf(period, timeMs).start };
}
