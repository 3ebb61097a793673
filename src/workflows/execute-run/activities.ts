// Activities of an execution: its next step, and its early end.

import type {
  ExecutionEnd,
  ExecutionRuns,
  NextStep,
} from "../../evaluation/executions/execution-runs.ts";
import type { ExecuteRunInput } from "../../outbox/entry.ts";
import { stopSignal, toActivities } from "../activity.ts";

export function createExecuteRunActivities({
  executionRuns,
}: {
  readonly executionRuns: ExecutionRuns;
}) {
  return toActivities({
    /** Runs the next datapoints, or looks at the scores. */
    executeStep: (input: ExecuteRunInput): Promise<NextStep> =>
      executionRuns.step(input, stopSignal()),

    /** Ends an execution early. */
    endExecution: (input: ExecuteRunInput, end: ExecutionEnd): Promise<void> =>
      executionRuns.finish(input, end),
  });
}
