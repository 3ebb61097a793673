// What is kept of a result: the row of its run, and the metrics of its event. Called by scores.ts.
// Source: docs/decisions.md, 24.

import type { JsonObject } from "../../base/json.ts";
import type { MetricsMerge } from "../../tracing/events/metrics.ts";
import type { JudgeCall, RunResult } from "../runner/runner.ts";
import type { Score } from "../score.ts";

/** A run that ended. Texts that are absent are null. */
export type ResultRow = {
  readonly eventId: string;
  readonly state: "scored" | "failed";
  readonly result: Score | null;
  readonly explanation: string | null;
  readonly failure: string | null;
  readonly judge: JudgeCall | null;
};

/** Enough to understand a score; evaluators may say more than anybody reads. */
const explanationCharactersMax = 10_000;
/** One line beside a score. */
const failureCharactersMax = 1_000;
const answerCharactersMax = 10_000;

export function toResultRow(eventId: string, result: RunResult): ResultRow {
  const { judge } = result;
  const kept = judge ? { ...judge, answer: cut(judge.answer, answerCharactersMax) } : null;
  if (result.kind === "failure") {
    const line = `${result.reason}: ${result.message}`.replace(/\s+/g, " ").trim();
    const failure = cut(line, failureCharactersMax);
    const none = { result: null, explanation: null };
    return { eventId, state: "failed", ...none, failure, judge: kept };
  }
  const { score, explanation = null } = result;
  return {
    ...{ eventId, state: "scored", result: score, failure: null, judge: kept },
    explanation: explanation === null ? null : cut(explanation, explanationCharactersMax),
  };
}

/**
 * Returns what a run that ended says on its event. A score ends what an earlier version, or try,
 * has said of it; a failure leaves an earlier score as it is.
 */
export function toMetrics(row: ResultRow, name: string): MetricsMerge {
  const { eventId, result, explanation, failure } = row;
  const failureKey = `${name}_failure`;
  const explanationKey = `${name}_explanation`;
  if (result === null) return { eventId, metrics: { [failureKey]: failure }, removed: [] };
  const metrics: JsonObject = {
    [name]: result,
    ...(explanation !== null && { [explanationKey]: explanation }),
  };
  return { eventId, metrics, removed: [failureKey, explanationKey] };
}

/** Returns the beginning of a text; no pair of code units is cut in two. */
function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const end = /[\uD800-\uDBFF]/.test(text.charAt(charactersMax - 1)) ? 1 : 0;
  return text.slice(0, charactersMax - end);
}
