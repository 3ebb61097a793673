// Notifications that a share of a budget is spent, once for each share of an amount in a period.
// Source: docs/budgets.md.

import { createHash } from "node:crypto";
import type { ProjectScope } from "../../access/scope.ts";
import type { Notifications } from "../../notifications/notifications.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import type { Database } from "../../postgres/database.ts";
import { type Reached, reachedShare, spendNotice } from "./notices.ts";
import { keyOf } from "./periods.ts";
import * as store from "./store.ts";
import type { BudgetRow, Spend } from "./store.ts";

export type SpendTeller = {
  /** Tells of the share that is spent at a time, unless it was told of. */
  tell(project: ProjectScope, budget: BudgetRow, spend: Spend, atMs: number): Promise<void>;
};

export type SpendTellerOptions = {
  /** The control database. */
  readonly database: Database;
  readonly clusters: Pick<Clusters, "database">;
  readonly notifications: Pick<Notifications, "append">;
};

/** Returns the share of a budget that is spent and was not told of; undefined if there is none. */
export function untoldShare(budget: BudgetRow, spend: Spend): Reached | undefined {
  const reached = reachedShare(budget, spend.cost);
  const told = spend.toldAmount === budget.amount ? spend.told : 0;
  return reached && told < reached.percent ? reached : undefined;
}

export function createSpendTeller(options: SpendTellerOptions): SpendTeller {
  const { database, clusters, notifications } = options;
  return {
    async tell(project, budget, spend, atMs) {
      const reached = untoldShare(budget, spend);
      if (!reached) return;
      const { id, amount, createdBy: actor } = budget;
      const key = keyOf(budget, atMs);
      const notice = spendNotice(project, budget, { spend, reached, atMs });
      // The same each time, so that processes which tell at once tell once.
      const notificationId = idOf([id, key.periodStart.toISOString(), reached.percent, amount]);
      await database.transaction(() =>
        notifications.append({ project, id }, { ...notice, actor, notificationId }),
      );
      const events = clusters.database(project.clusterId).on("commits");
      await store.setTold(events.sql(), key, { told: reached.percent, amount });
    },
  };
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
