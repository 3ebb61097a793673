// Checks an alert for the periods that have ended, in their order. Started through the outbox.
// Source: docs/workflows.md, "Alerts".

import { proxyActivities, setHandler } from "@temporalio/workflow";
import type { EvaluateAlertInput } from "../../outbox/entry.ts";
import { evaluationOptions } from "../activity-options.ts";
import { type Progress, progressQuery } from "../progress.ts";
import type { createEvaluateAlertActivities } from "./activities.ts";

const { evaluateAlertPeriod } =
  proxyActivities<ReturnType<typeof createEvaluateAlertActivities>>(evaluationOptions);

/** Returns the final progress; its state is the last outcome, or `dropped`. */
export async function evaluateAlert(input: EvaluateAlertInput): Promise<Progress> {
  let progress: Progress = { state: "running", done: 0, left: 1 };
  setHandler(progressQuery, () => progress);
  let endMs = input.firstEndMs;
  for (;;) {
    const { outcome, nextEndMs } = await evaluateAlertPeriod(input, endMs);
    const done = progress.done + 1;
    progress = { state: outcome ?? "dropped", done, left: 1 };
    if (outcome === null || nextEndMs > input.lastEndMs) return { ...progress, left: 0 };
    endMs = nextEndMs;
  }
}
