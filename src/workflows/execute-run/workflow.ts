// Executes an experiment run: a model call for each datapoint, in steps, then the wait for scores.
// Started through the outbox. Source: docs/experiments.md, "Execution"; docs/workflows.md.

import {
  CancellationScope,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from "@temporalio/workflow";
import type { NextStep } from "../../evaluation/executions/execution-runs.ts";
import type { ExecuteRunInput } from "../../outbox/entry.ts";
import { activityOptions, evaluationOptions } from "../activity-options.ts";
import { type Progress, progressQuery } from "../progress.ts";
import type { createExecuteRunActivities } from "./activities.ts";

type Activities = ReturnType<typeof createExecuteRunActivities>;
const { executeStep } = proxyActivities<Activities>(evaluationOptions);
const { endExecution } = proxyActivities<Activities>(activityOptions);

/** Input, with the progress of the earlier run if the workflow continues as new. */
export type ExecuteRunRunInput = ExecuteRunInput & { readonly resumed?: Progress };

/** Runs an execution; returns the final progress. */
export async function executeRun({ resumed, ...input }: ExecuteRunRunInput): Promise<Progress> {
  let progress: Progress = resumed ?? { state: "running", done: 0, left: input.datapoints };
  setHandler(progressQuery, () => progress);
  try {
    for (;;) {
      const next = await executeStep(input);
      progress = toProgress(next);
      if (next.kind !== "again") return progress;
      if (next.pauseMs !== undefined) await sleep(next.pauseMs);
      if (!workflowInfo().continueAsNewSuggested) continue;
      await continueAsNew<typeof executeRun>({ ...input, resumed: progress });
    }
  } catch (error) {
    if (isCancellation(error)) {
      const end = { state: "cancelled", error: "cancelled in Temporal" } as const;
      await CancellationScope.nonCancellable(() => endExecution(input, end));
      progress = { ...progress, state: "cancelled" };
    }
    throw error;
  }
}

function toProgress(next: NextStep): Progress {
  const { datapoints, done, failed, cost, unpriced } = next.progress;
  const { kind } = next;
  const state = kind === "again" ? (next.isScoring ? "scoring" : "running") : kind;
  return { state, done, left: Math.max(0, datapoints - done - failed), failed, cost, unpriced };
}
