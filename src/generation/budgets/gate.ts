// Admits model calls under the budgets of their project and key, and adds their cost in the commit
// of their events, so that no call is lost to a budget. Source: docs/budgets.md; docs/decisions.md,
// 49.1.

import type { EnabledMemory } from "../../access/enabled-memory.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import type { Database } from "../../postgres/database.ts";
import { keyOf, spanOf } from "./periods.ts";
import * as store from "./store.ts";
import type { BudgetRow, Spend } from "./store.ts";
import type { SpendTeller } from "./tell-spend.ts";

/** A call that counts. */
export type Charge = {
  /** Runs `effect`, which stores the call's event, and adds the cost in the same transaction. */
  commit(effect: () => Promise<void>, cost: number | null): Promise<void>;
};

export type BudgetGate = {
  /**
   * Returns the charge of a call; undefined if no budget counts it. Fails with BUDGET_EXHAUSTED.
   */
  admit(project: ProjectScope, keyId: string | undefined): Promise<Charge | undefined>;
};

export type BudgetGateOptions = {
  readonly clusters: Pick<Clusters, "database">;
  /** Active budgets of projects. */
  readonly memory: Pick<EnabledMemory<BudgetRow>, "get">;
  readonly teller: SpendTeller;
  readonly logger: Pick<Logger, "warn">;
};

export function createBudgetGate(options: BudgetGateOptions): BudgetGate {
  const { clusters, memory, teller, logger } = options;

  /**
   * Tells of the spend of a budget by its present state, which may have changed while a call ran. A
   * failure is made up for by the next call, or by the worker (missed-notices.ts).
   */
  async function tell(project: ProjectScope, spend: Spend, atMs: number): Promise<void> {
    const { budgetId } = spend;
    try {
      const now = await memory.get(project.projectId);
      const budget = now.find(({ id }) => id === budgetId);
      if (budget) await teller.tell(project, budget, spend, atMs);
    } catch (err) {
      logger.warn({ err, budget: budgetId }, "a budget is spent, and its notification waits");
    }
  }

  return {
    async admit(project, keyId) {
      const active = (await memory.get(project.projectId)).filter(
        (budget) => budget.keyId === null || budget.keyId === keyId,
      );
      if (active.length === 0) return undefined;
      const atMs = Date.now();
      const database = clusters.database(project.clusterId);
      await assertLeft(database, { project, budgets: active, atMs, tell });
      return {
        commit: (effect, cost) =>
          database.transaction(
            async (sql) => {
              await effect();
              // Last, since the row of a budget keeps other calls of it waiting.
              for (const budget of active) {
                const key = keyOf(budget, atMs);
                const spend = await store.addSpend(sql, key, cost);
                if (spend) database.afterCommit(() => void tell(project, spend, atMs));
              }
            },
            { owner: project.projectId },
          ),
      };
    },
  };
}

type Asked = {
  readonly project: ProjectScope;
  readonly budgets: readonly BudgetRow[];
  readonly atMs: number;
  readonly tell: (project: ProjectScope, spend: Spend, atMs: number) => Promise<void>;
};

async function assertLeft(
  database: Database,
  { project, budgets, atMs, tell }: Asked,
): Promise<void> {
  const { projectId } = project;
  const keys = budgets.map((budget) => keyOf(budget, atMs));
  const spent = await database
    .on("commits")
    .inTurn((sql) => store.listSpend(sql, projectId, keys), { owner: projectId });
  for (const budget of budgets) {
    const spend = spent.find(({ budgetId }) => budgetId === budget.id);
    if (spend === undefined || spend.cost < budget.amount) continue;
    void tell(project, spend, atMs);
    throw exhausted(projectId, budget, spend, atMs);
  }
}

function exhausted(
  projectId: string,
  { id, period, amount, keyId }: BudgetRow,
  { cost }: Spend,
  atMs: number,
) {
  const { end } = spanOf(period, atMs);
  const whose = keyId === null ? "of the project" : "of this key";
  const message =
    `the budget ${whose} of $${amount} a ${period.toLowerCase()} is spent ($${cost}); ` +
    `it renews at ${end.toISOString()}, and an administrator may raise it ` +
    `(PATCH /v1/projects/${projectId}/budgets/${id}, or Budgets in the project's settings)`;
  const retryAfterSeconds = Math.ceil((end.getTime() - atMs) / 1_000);
  return new ServiceError("BUDGET_EXHAUSTED", message, { retryAfterSeconds });
}
