// Admits model calls under the budgets of their project and key, and adds their cost in the commit
// of their events, so that no call is lost to a budget. Source: docs/budgets.md; docs/decisions.md,
// 49.1.

import { createHash } from "node:crypto";
import type { EnabledMemory } from "../../access/enabled-memory.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Notifications } from "../../notifications/notifications.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import type { Database } from "../../postgres/database.ts";
import { type Reached, spendNotice, tolds } from "./notices.ts";
import { spanOf } from "./periods.ts";
import * as store from "./store.ts";
import type { BudgetRow, Spend } from "./store.ts";

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
  /** The control database. */
  readonly database: Database;
  readonly clusters: Pick<Clusters, "database">;
  /** Active budgets of projects. */
  readonly memory: Pick<EnabledMemory<BudgetRow>, "get">;
  readonly notifications: Pick<Notifications, "append">;
  readonly logger: Pick<Logger, "warn">;
};

const whole = 100;

export function createBudgetGate(options: BudgetGateOptions): BudgetGate {
  const { clusters, memory, logger } = options;

  /** Tells of the share that is spent, unless it was told of. A failure is made up for later. */
  function tell(project: ProjectScope, budget: BudgetRow, spend: Spend, atMs: number): void {
    const reached = tolds.find(({ percent }) => spend.cost * whole >= budget.amount * percent);
    const told = spend.toldAmount === budget.amount ? spend.told : 0;
    if (!reached || told >= reached.percent) return;
    const telling = { project, budget, spend, reached, atMs };
    tellNow(options, telling).catch((err: unknown) => {
      logger.warn({ err, budget: budget.id }, "a budget is spent, and its notification waits");
    });
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
                if (spend) database.afterCommit(() => tell(project, budget, spend, atMs));
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
  readonly tell: (project: ProjectScope, budget: BudgetRow, spend: Spend, atMs: number) => void;
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
    tell(project, budget, spend, atMs);
    throw exhausted(budget, spend, atMs);
  }
}

function keyOf({ id, projectId, period }: BudgetRow, atMs: number) {
  return { projectId, budgetId: id, periodStart: spanOf(period, atMs).start };
}

function exhausted({ period, amount, keyId }: BudgetRow, { cost }: Spend, atMs: number) {
  const { end } = spanOf(period, atMs);
  const whose = keyId === null ? "of the project" : "of this key";
  const message =
    `the budget ${whose} of $${amount} a ${period.toLowerCase()} is spent ($${cost}); ` +
    `it renews at ${end.toISOString()}, and an administrator may raise it`;
  const retryAfterSeconds = Math.ceil((end.getTime() - atMs) / 1_000);
  return new ServiceError("BUDGET_EXHAUSTED", message, { retryAfterSeconds });
}

type Telling = {
  readonly project: ProjectScope;
  readonly budget: BudgetRow;
  readonly spend: Spend;
  readonly reached: Reached;
  readonly atMs: number;
};

async function tellNow(
  { database, clusters, notifications }: BudgetGateOptions,
  { project, budget, spend, reached, atMs }: Telling,
): Promise<void> {
  const { id, amount, period, createdBy: actor } = budget;
  const { start } = spanOf(period, atMs);
  const notice = spendNotice(project, budget, { spend, reached, atMs });
  // The same each time, so that servers which tell at once tell once.
  const notificationId = idOf([id, start.toISOString(), reached.percent, amount]);
  await database.transaction(() =>
    notifications.append({ project, id }, { ...notice, actor, notificationId }),
  );
  await store.setTold(
    clusters.database(project.clusterId).on("commits").sql(),
    keyOf(budget, atMs),
    {
      told: reached.percent,
      amount,
    },
  );
}

/** Returns a UUID (version 8) of the hash of a list. */
function idOf(parts: readonly (string | number)[]): string {
  const hex = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  const [first, second, third, fourth] = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(13, 16),
    hex.slice(17, 20),
  ];
  return `${first}-${second}-8${third}-8${fourth}-${hex.slice(20, 32)}`;
}
