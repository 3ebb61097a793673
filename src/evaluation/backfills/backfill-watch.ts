// Watches for backfills whose workflow was ended from outside, so that none stays running for ever.
// Every worker runs the watch; concurrent watches are safe.
// Source: docs/evaluators.md, "Backfills".

import { isProject } from "../../access/scope.ts";
import type { Logger } from "../../base/logger.ts";
import type { Scopes } from "../../controlplane/scopes/scopes.ts";
import { backfillEntry } from "../../outbox/entry.ts";
import type { Outbox } from "../../outbox/outbox.ts";
import type { Database } from "../../postgres/database.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { BackfillRuns } from "./backfill-runs.ts";
import * as store from "./store.ts";
import type { BackfillKey, BackfillRow } from "./store.ts";

export type BackfillWatchOptions = {
  /** The control database. */
  readonly database: Database;
  readonly runs: Pick<BackfillRuns, "nextChunk" | "finish">;
  readonly metrics: Pick<Metrics, "find">;
  readonly scopes: Pick<Scopes, "find">;
  readonly outbox: Outbox;
  /** Queries Temporal about a workflow. */
  readonly client: {
    getState(workflowId: string): Promise<"running" | "completed" | "failed" | "absent">;
  };
  readonly logger: Pick<Logger, "info">;
  /** Time without movement after which a backfill is checked; judges may take as long. */
  readonly stillMs?: number;
};

const stillMsDefault = 120_000;
/**
 * Maximum backfills per turn; an evaluator has at most one open, and the others wait for the next
 * turn.
 */
const backfillsPerTurnMax = 100;

/** Checks all backfills that have not moved for some time. */
export async function watchBackfills(options: BackfillWatchOptions): Promise<void> {
  const { database, stillMs = stillMsDefault } = options;
  const rows = await store.listStill(database.sql(), stillMs, backfillsPerTurnMax);
  for (const row of rows) await look(options, row);
}

async function look(options: BackfillWatchOptions, row: BackfillRow): Promise<void> {
  const { database, client, runs, logger } = options;
  const key = { projectId: row.projectId, backfillId: row.id };
  const state = await client.getState(row.workflowId);
  if (state === "running") return store.touchBackfill(database.sql(), key);
  const { workflowId } = row;
  if (state === "absent") {
    logger.info(
      { workflowId },
      "Temporal does not know the workflow of a backfill; another starts",
    );
    return restart(options, row);
  }
  logger.info({ workflowId }, "the workflow of a backfill was ended; the backfill ends with it");
  const run = { ...key, run: row.run };
  // Nothing is running, so a requested stop is complete.
  if (row.state === "running") return runs.finish(run, { state: "failed", error: endedOutside });
  await runs.nextChunk(run);
}

const endedOutside =
  "its workflow was ended in Temporal; another backfill goes on, and skips what is scored";

async function restart(options: BackfillWatchOptions, row: BackfillRow): Promise<void> {
  const { database, metrics, outbox } = options;
  const key: BackfillKey = { projectId: row.projectId, backfillId: row.id };
  const project = await options.scopes.find("project", row.projectId);
  if (!isProject(project)) {
    const error = "the project was archived";
    return options.runs.finish({ ...key, run: row.run }, { state: "cancelled", error });
  }
  const evaluator = await metrics.find(row.projectId, row.evaluatorId, row.version);
  await database.transaction(async (sql) => {
    const now = await store.lockBackfill(sql, key);
    if (now?.run !== row.run || now.endedAt !== null || now.state === "paused") return;
    const entry = backfillEntry({
      ...key,
      run: row.run + 1,
      evaluatorId: row.evaluatorId,
      version: row.version,
      orgId: project.orgId,
      evaluatorName: evaluator?.definition.name ?? "",
      enablement: evaluator?.enablement ?? 0,
      actor: row.createdBy,
    });
    const { state } = now;
    await store.updateRun(sql, key, { state, run: row.run + 1, workflowId: entry.workflowId });
    await outbox.append(entry);
  });
}
