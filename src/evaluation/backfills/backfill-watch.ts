// Finds backfills whose workflow ended unexpectedly, and continues or ends them.
// Source: docs/evaluators.md, "Backfills".

import { findProject, type Scopes } from "../../controlplane/scopes/scopes.ts";
import { backfillEntry } from "../../outbox/entry.ts";
import type { Outbox } from "../../outbox/outbox.ts";
import type { Database } from "../../postgres/database.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { watchWorkflows, type WorkflowWatchOptions } from "../workflow-watch.ts";
import type { BackfillRuns } from "./backfill-runs.ts";
import * as store from "./store.ts";
import type { BackfillRow } from "./store.ts";

export type BackfillWatchOptions = WorkflowWatchOptions & {
  /** The control database. */
  readonly database: Database;
  readonly runs: Pick<BackfillRuns, "nextChunk" | "finish">;
  readonly metrics: Pick<Metrics, "find">;
  readonly scopes: Pick<Scopes, "find">;
  readonly outbox: Outbox;
};

/** Checks all backfills that have not moved for some time. */
export function watchBackfills(options: BackfillWatchOptions): Promise<void> {
  const { database, runs } = options;
  const sql = database.sql();
  return watchWorkflows(options, {
    noun: "backfill",
    listStill: (stillMs, limit) => store.listStill(sql, stillMs, limit),
    touch: (row) => store.touchBackfill(sql, store.keyOf(row)),
    restart: (row) => restart(options, row),
    async end(row) {
      const run = { ...store.keyOf(row), run: row.run };
      // Nothing is running, so a requested stop is complete.
      if (row.state !== "running") await runs.nextChunk(run);
      else await runs.finish(run, { state: "failed", error: endedOutside });
    },
  });
}

const endedOutside =
  "its workflow was ended in Temporal; start another backfill, which skips scored events";

async function restart(options: BackfillWatchOptions, row: BackfillRow): Promise<void> {
  const { database, metrics, outbox } = options;
  const key = store.keyOf(row);
  const project = await findProject(options.scopes, row.projectId);
  if (!project) {
    const error = "the project was archived";
    return options.runs.finish({ ...key, run: row.run }, { state: "cancelled", error });
  }
  const evaluator = await metrics.find(row.projectId, row.evaluatorId, row.version);
  await database.transaction(async (sql) => {
    const now = await store.findBackfill(sql, key, { lock: true });
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
