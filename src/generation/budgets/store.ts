// SQL of budgets in the control database, and of their spend in the clusters.

import type { ProjectId } from "../../base/ids.ts";
import type { Sql } from "../../postgres/database.ts";
import { deletableRows } from "../../postgres/project-rows.ts";

export const budgetPeriods = ["DAY", "MONTH"] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

export type BudgetRow = {
  readonly id: string;
  readonly projectId: ProjectId;
  /** Null for all calls of the project. */
  readonly keyId: string | null;
  /** US dollars. */
  readonly amount: number;
  readonly period: BudgetPeriod;
  readonly isActive: boolean;
  readonly createdAt: Date;
  readonly createdBy: string;
  readonly updatedAt: Date | null;
};

export type NewBudget = Omit<BudgetRow, "createdAt" | "updatedAt">;

/** Lock and deletion of a project's budgets. */
export const budgetRows = deletableRows("budgets", "budget_id");

/** Returns the budgets of a project, oldest first; or the one of an id. */
export async function listBudgets(
  sql: Sql,
  projectId: string,
  id?: string,
): Promise<readonly BudgetRow[]> {
  return sql<BudgetRow[]>`
    select ${budgetColumns(sql)} from budgets
    where project_id = ${projectId} ${id === undefined ? sql`` : sql`and budget_id = ${id}`}
    order by created_at, budget_id`;
}

/** Returns the active budgets among ids. */
export async function listActiveBudgets(
  sql: Sql,
  ids: readonly string[],
): Promise<readonly BudgetRow[]> {
  return sql<BudgetRow[]>`
    select ${budgetColumns(sql)} from budgets
    where budget_id = any(${ids}::uuid[]) and is_active`;
}

function budgetColumns(sql: Sql) {
  return sql`
    budget_id as id, project_id as "projectId", key_id as "keyId", amount, period,
    is_active as "isActive", created_at as "createdAt", created_by as "createdBy",
    updated_at as "updatedAt"`;
}

export async function insertBudget(sql: Sql, budget: NewBudget): Promise<void> {
  await sql`
    insert into budgets (budget_id, project_id, key_id, amount, period, is_active, created_by)
    values (
      ${budget.id}, ${budget.projectId}, ${budget.keyId}, ${budget.amount}, ${budget.period},
      ${budget.isActive}, ${budget.createdBy}
    )`;
}

export async function updateBudget(
  sql: Sql,
  { id, projectId, amount, isActive }: NewBudget,
): Promise<void> {
  await sql`
    update budgets
    set amount = ${amount}, is_active = ${isActive}, updated_at = clock_timestamp()
    where project_id = ${projectId} and budget_id = ${id}`;
}

/** A budget in one of its periods. */
export type SpendKey = {
  readonly projectId: ProjectId;
  readonly budgetId: string;
  readonly periodStart: Date;
};

export type Spend = {
  readonly budgetId: string;
  /** US dollars. */
  readonly cost: number;
  readonly calls: number;
  readonly unpriced: number;
  /** Share of `toldAmount`, in percent, that was told of. */
  readonly told: number;
  readonly toldAmount: number | null;
};

/** Returns the spend of budgets in their periods; leaves out budgets without a call. */
export async function listSpend(
  sql: Sql,
  projectId: string,
  keys: readonly Omit<SpendKey, "projectId">[],
): Promise<readonly Spend[]> {
  return sql<Spend[]>`
    select ${spendColumns(sql)} from budget_spend
    where project_id = ${projectId}
      and (budget_id, period_start) in (
        select * from unnest(
          ${keys.map(({ budgetId }) => budgetId)}::uuid[],
          ${keys.map(({ periodStart }) => periodStart.toISOString())}::timestamptz[]
        )
      )`;
}

export type PlacedSpend = Spend & SpendKey;

/** Returns a page of what all projects spent in the periods that begin at `starts`. */
export async function listSpendOfAll(
  sql: Sql,
  {
    starts,
    after,
    limit,
  }: {
    readonly starts: readonly Date[];
    readonly after: SpendKey | undefined;
    readonly limit: number;
  },
): Promise<readonly PlacedSpend[]> {
  const isAfter = after
    ? sql`(project_id, budget_id, period_start) >
        (${after.projectId}::uuid, ${after.budgetId}::uuid, ${after.periodStart})`
    : sql`true`;
  return sql<PlacedSpend[]>`
    select project_id as "projectId", period_start as "periodStart", ${spendColumns(sql)}
    from budget_spend
    where period_start = any(${starts.map((start) => start.toISOString())}::timestamptz[])
      and ${isAfter}
    order by project_id, budget_id, period_start
    limit ${limit}`;
}

function spendColumns(sql: Sql) {
  return sql`
    budget_id as "budgetId", cost::double precision as cost, calls, unpriced, told,
    told_amount as "toldAmount"`;
}

/** Adds a call to a budget in a period, and returns the spend after it. */
export async function addSpend(
  sql: Sql,
  { projectId, budgetId, periodStart }: SpendKey,
  cost: number | null,
): Promise<Spend | undefined> {
  const [row] = await sql<Spend[]>`
    insert into budget_spend (project_id, budget_id, period_start, cost, calls, unpriced)
    values (
      ${projectId}, ${budgetId}, ${periodStart}, ${cost ?? 0}, 1, ${cost === null ? 1 : 0}
    )
    on conflict (project_id, budget_id, period_start) do update set
      cost = budget_spend.cost + excluded.cost,
      calls = budget_spend.calls + 1,
      unpriced = budget_spend.unpriced + excluded.unpriced
    returning ${spendColumns(sql)}`;
  return row;
}

/** Notes which share of an amount was told of. */
export async function setTold(
  sql: Sql,
  { projectId, budgetId, periodStart }: SpendKey,
  { told, amount }: { readonly told: number; readonly amount: number },
): Promise<void> {
  await sql`
    update budget_spend set told = ${told}, told_amount = ${amount}
    where project_id = ${projectId} and budget_id = ${budgetId}
      and period_start = ${periodStart}`;
}

/** Deletes what was spent of a budget. */
export async function deleteSpend(sql: Sql, projectId: string, budgetId: string): Promise<void> {
  await sql`delete from budget_spend where project_id = ${projectId} and budget_id = ${budgetId}`;
}
