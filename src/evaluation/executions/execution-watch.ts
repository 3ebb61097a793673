// Has executions whose workflow was ended from outside go on or end.
// Source: docs/experiments.md, "Execution".

import { findProject, type Scopes } from "../../controlplane/scopes/scopes.ts";
import type { Outbox } from "../../outbox/outbox.ts";
import type { Database } from "../../postgres/database.ts";
import type { Runs } from "../runs/runs.ts";
import { watchWorkflows, type WorkflowWatchOptions } from "../workflow-watch.ts";
import type { ExecutionRuns } from "./execution-runs.ts";
import { entryOf } from "./executions.ts";
import { isEnded } from "../end-state.ts";
import * as store from "./store.ts";
import type { ExecutionRow } from "./store.ts";

export type ExecutionWatchOptions = WorkflowWatchOptions & {
  /** The control database. */
  readonly database: Database;
  readonly executionRuns: Pick<ExecutionRuns, "finish">;
  readonly runs: Pick<Runs, "find">;
  readonly scopes: Pick<Scopes, "find">;
  readonly outbox: Outbox;
};

/** Checks all executions that have not moved for some time. */
export function watchExecutions(options: ExecutionWatchOptions): Promise<void> {
  const { database, executionRuns } = options;
  const sql = database.sql();
  return watchWorkflows(options, {
    noun: "run",
    listStill: (stillMs, limit) => store.listStill(sql, stillMs, limit),
    touch: (row) => store.moveExecution(sql, row, row.afterPosition),
    restart: (row) => restart(options, row),
    end: (row) =>
      executionRuns.finish(
        row,
        row.state === "cancelling"
          ? { state: "cancelled" }
          : { state: "failed", error: "its workflow was ended in Temporal; resume the execution" },
      ),
  });
}

async function restart(options: ExecutionWatchOptions, row: ExecutionRow): Promise<void> {
  const { database, executionRuns, outbox, runs, scopes } = options;
  const project = await findProject(scopes, row.projectId);
  const run = project && (await runs.find(project, row.runId));
  if (!run) {
    return executionRuns.finish(row, { state: "cancelled", error: "the run is gone" });
  }
  await database.transaction(async (sql) => {
    const now = await store.findExecution(sql, row, { lock: true });
    if (now?.turn !== row.turn || isEnded(now.state)) return;
    const turn = row.turn + 1;
    const entry = entryOf(project, run, { ...row, turn }, row.createdBy);
    await store.startTurn(sql, { ...row, turn }, entry.workflowId);
    if (now.state === "cancelling") await store.startCancelling(sql, row);
    await outbox.append(entry);
  });
}
