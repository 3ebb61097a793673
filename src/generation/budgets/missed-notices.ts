// Tells of spent budgets whose notification was lost: the process of the call ended, or the control
// database was away, before it was written. Each worker looks once a minute.
// Source: docs/budgets.md.

import { findProject, type Scopes } from "../../controlplane/scopes/scopes.ts";
import type { Logger } from "../../base/logger.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import type { Database } from "../../postgres/database.ts";
import { spanOf } from "./periods.ts";
import * as store from "./store.ts";
import { budgetPeriods, type BudgetRow, type PlacedSpend, type SpendKey } from "./store.ts";
import { type SpendTeller, untoldShare } from "./tell-spend.ts";

export type MissedNotices = {
  /** Begins to look, now and once a minute, until `stop`. */
  follow(): void;
  /** Ends the looks and waits for a running one. */
  stop(): Promise<void>;
};

export type MissedNoticesOptions = {
  /** The control database. */
  readonly database: Database;
  readonly clusters: Pick<Clusters, "database" | "ids" | "away">;
  readonly scopes: Pick<Scopes, "find">;
  readonly teller: SpendTeller;
  readonly logger: Pick<Logger, "warn">;
};

const lookMs = 60_000;
const rowsPerPage = 1_000;

export function createMissedNotices(options: MissedNoticesOptions): MissedNotices {
  const { clusters, logger } = options;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  async function lookEverywhere(): Promise<void> {
    for (const clusterId of clusters.ids()) {
      if (isStopped || clusters.away().includes(clusterId)) continue;
      try {
        await lookInto(options, clusterId, () => isStopped);
      } catch (err) {
        logger.warn({ err, clusterId }, "notifications of budgets wait");
      }
    }
  }

  async function lookAndGoOn(): Promise<void> {
    running = lookEverywhere();
    await running;
    schedule(lookMs);
  }

  function schedule(delayMs: number): void {
    if (isStopped) return;
    timer = setTimeout(() => void lookAndGoOn(), delayMs).unref();
  }

  return {
    follow: () => schedule(0),
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/** Looks through the spend of the current periods in a cluster. */
async function lookInto(
  options: MissedNoticesOptions,
  clusterId: string,
  isStopped: () => boolean,
): Promise<void> {
  const { clusters, database } = options;
  const atMs = Date.now();
  const starts = budgetPeriods.map((period) => spanOf(period, atMs).start);
  let after: SpendKey | undefined;
  do {
    const page = { starts, after, limit: rowsPerPage };
    const spends = await store.listSpendOfAll(clusters.database(clusterId).sql(), page);
    const ids = spends.map(({ budgetId }) => budgetId);
    const budgets = await store.listActiveBudgets(database.sql(), ids);
    const byId = new Map(budgets.map((budget) => [budget.id, budget]));
    for (const spend of spends) {
      const budget = byId.get(spend.budgetId);
      if (budget && !isStopped()) await tellOne(options, { clusterId, budget, spend, atMs });
    }
    after = spends.length < rowsPerPage ? undefined : spends.at(-1);
  } while (after && !isStopped());
}

type Missed = {
  readonly clusterId: string;
  readonly budget: BudgetRow;
  readonly spend: PlacedSpend;
  readonly atMs: number;
};

async function tellOne(
  { scopes, teller }: MissedNoticesOptions,
  { clusterId, budget, spend, atMs }: Missed,
): Promise<void> {
  const isOfNow = spanOf(budget.period, atMs).start.getTime() === spend.periodStart.getTime();
  if (!isOfNow || !untoldShare(budget, spend)) return;
  const project = await findProject(scopes, budget.projectId);
  if (project?.clusterId === clusterId) await teller.tell(project, budget, spend, atMs);
}
