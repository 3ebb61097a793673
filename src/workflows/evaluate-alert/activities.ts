// Activities of a check of an alert.

import type { EvaluateAlertInput } from "../../outbox/entry.ts";
import type { AlertChecks, PeriodCheck } from "../../tracing/alerts/evaluate.ts";
import { stopSignal, toActivities } from "../activity.ts";

export function createEvaluateAlertActivities({
  alertChecks,
}: {
  readonly alertChecks: Pick<AlertChecks, "evaluate">;
}) {
  return toActivities({
    /** Measures a period, and stores what follows from it. */
    evaluateAlertPeriod: (input: EvaluateAlertInput, endMs: number): Promise<PeriodCheck> =>
      alertChecks.evaluate(input, endMs, stopSignal()),
  });
}
