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
/** Time after the end of a period in which what was lost at its end is still told. */
const belatedMs = 3_600_000;
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
        await tellMissed(options, { clusterId, nowMs: Date.now(), isStopped: () => isStopped });
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

type Look = {
  readonly clusterId: string;
  readonly nowMs: number;
  readonly isStopped: () => boolean;
};

/** Looks through the spend of the current periods in a cluster, and of those that just ended. */
export async function tellMissed(
  options: Omit<MissedNoticesOptions, "logger">,
  { clusterId, nowMs, isStopped }: Look,
): Promise<void> {
  const { clusters, database } = options;
  const times = [nowMs, nowMs - belatedMs];
  const starts = budgetPeriods.flatMap((period) => times.map((ms) => spanOf(period, ms).start));
  let after: SpendKey | undefined;
  do {
    const page = { starts, after, limit: rowsPerPage };
    const spends = await store.listSpendOfAll(clusters.database(clusterId).sql(), page);
    const ids = spends.map(({ budgetId }) => budgetId);
    const budgets = await store.listActiveBudgets(database.sql(), ids);
    const byId = new Map(budgets.map((budget) => [budget.id, budget]));
    for (const spend of spends) {
      const budget = byId.get(spend.budgetId);
      if (budget && !isStopped()) await tellOne(options, { clusterId, budget, spend, times });
    }
    after = spends.length < rowsPerPage ? undefined : spends.at(-1);
  } while (after && !isStopped());
}

type Missed = {
  readonly clusterId: string;
  readonly budget: BudgetRow;
  readonly spend: PlacedSpend;
  /** The present, and a time in the periods that just ended. */
  readonly times: readonly number[];
};

async function tellOne(
  { scopes, teller }: Pick<MissedNoticesOptions, "scopes" | "teller">,
  { clusterId, budget, spend, times }: Missed,
): Promise<void> {
  const atMs = times.find((ms) => isIn(budget, ms, spend.periodStart));
  if (atMs === undefined || !untoldShare(budget, spend)) return;
  // An amount that was changed since a period ended says nothing of that period.
  const { updatedAt, period } = budget;
  if (updatedAt && atMs !== times[0] && updatedAt >= spanOf(period, atMs).end) return;
  const project = await findProject(scopes, budget.projectId);
  if (project?.clusterId === clusterId) await teller.tell(project, budget, spend, atMs);
}

function isIn({ period }: BudgetRow, timeMs: number, periodStart: Date): boolean {
  return spanOf(period, timeMs).start.getTime() === periodStart.getTime();
}
