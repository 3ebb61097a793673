// Content of the notifications of budgets: lines for people, and the same for programs.
// Source: docs/budgets.md.

import type { ProjectScope } from "../../access/scope.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Notice } from "../../notifications/store.ts";
import { spanOf } from "./periods.ts";
import type { BudgetRow, Spend } from "./store.ts";

/** Shares of the amount that are told of, in percent, the greatest first. */
const tolds = [
  { percent: 100, type: "budget.exhausted", verb: "is spent" },
  { percent: 80, type: "budget.warning", verb: "is spent to 80 %" },
] as const;

export type Reached = (typeof tolds)[number];

const whole = 100;

/** Returns the greatest of these shares that a cost reaches; undefined if it reaches none. */
export function reachedShare({ amount }: Pick<BudgetRow, "amount">, cost: number) {
  return tolds.find(({ percent }) => cost * whole >= amount * percent);
}

/** Returns the notice that a share of a budget is spent. */
export function spendNotice(
  project: ProjectScope,
  budget: BudgetRow,
  {
    spend: { cost, calls, unpriced },
    reached: { type, verb },
    atMs,
  }: { readonly spend: Spend; readonly reached: Reached; readonly atMs: number },
): Notice {
  const { amount, period } = budget;
  const data = dataOf(project, budget, atMs);
  const share = `$${cost} of $${amount} a ${period.toLowerCase()}`;
  return {
    type,
    role: "critical",
    title: `The budget of ${whoseOf(project, budget)} ${verb}`,
    body: `${share} are spent, by ${calls} calls. It renews at ${data.renews_at}.`,
    data: { ...data, spent: cost, calls, unpriced_calls: unpriced },
  };
}

/** Returns the notice of a test call. */
export function testNotice(project: ProjectScope, budget: BudgetRow, atMs: number): Notice {
  const whose = whoseOf(project, budget);
  return {
    type: "budget.test",
    role: "critical",
    title: `Test: the budget of ${whose}`,
    body: `A test of the budget of ${whose}. All is well.`,
    data: dataOf(project, budget, atMs),
  };
}

function whoseOf({ name }: ProjectScope, { keyId }: BudgetRow): string {
  return keyId === null ? name : `a key of ${name}`;
}

function dataOf(project: ProjectScope, { id, amount, period, keyId }: BudgetRow, atMs: number) {
  const { start, end } = spanOf(period, atMs);
  return {
    budget: { id, amount, period, key_id: keyId },
    project: { id: project.id, name: project.name },
    period_start: start.toISOString(),
    renews_at: end.toISOString(),
  } satisfies JsonObject;
}
