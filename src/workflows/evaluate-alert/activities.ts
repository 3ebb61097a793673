// Activities of a check of an alert.

import type { EvaluateAlertInput } from "../../outbox/entry.ts";
import type { AlertChecks, PeriodCheck } from "../../tracing/alerts/evaluate.ts";
import { attemptNumber, stopSignal, toActivities } from "../activity.ts";

/** Attempts of a period whose charts take too long: each continues with what the last one read. */
const slowTriesMax = 5;

export function createEvaluateAlertActivities({
  alertChecks,
}: {
  readonly alertChecks: Pick<AlertChecks, "evaluate">;
}) {
  return toActivities({
    /** Measures a period, and stores what follows from it. */
    evaluateAlertPeriod: (input: EvaluateAlertInput, endMs: number): Promise<PeriodCheck> =>
      alertChecks.evaluate(input, endMs, {
        signal: stopSignal(),
        isLastTry: attemptNumber() >= slowTriesMax,
      }),
  });
}
