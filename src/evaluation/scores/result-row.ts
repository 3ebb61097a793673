// Stored form of a result: the row of its run, and the metrics of its event.
// Source: docs/decisions.md, 24.1.

import type { JsonObject } from "../../base/json.ts";
import type { MetricsMerge } from "../../tracing/events/metrics.ts";
import type { JudgeCall, RunResult } from "../runner/runner.ts";
import type { Score } from "./score.ts";

/** An ended run. Absent texts are null. */
export type ResultRow = {
  readonly eventId: string;
  readonly state: "scored" | "failed";
  readonly result: Score | null;
  readonly explanation: string | null;
  readonly failure: string | null;
  readonly judge: JudgeCall | null;
};

/** Maximum stored length: enough to understand a score, while evaluators may return far more. */
const explanationCharactersMax = 10_000;
/** Maximum length of the failure, one line next to a score. */
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
    eventId,
    state: "scored",
    result: score,
    failure: null,
    judge: kept,
    explanation: explanation === null ? null : cut(explanation, explanationCharactersMax),
  };
}

/**
 * Returns the metrics of an ended run for its event. A score removes the failure and explanation of
 * an earlier version or try; a failure keeps an earlier score.
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

/** Returns the beginning of a text, without cutting a surrogate pair. */
function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const end = /[\uD800-\uDBFF]/.test(text.charAt(charactersMax - 1)) ? 1 : 0;
  return text.slice(0, charactersMax - end);
}
