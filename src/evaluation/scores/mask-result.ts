// Masks the texts of a result, which an evaluator's code, a judge's model or a provider wrote.
// Source: docs/masking.md.

import type { Mask } from "../../tracing/masking/mask.ts";
import type { RunResult } from "../runner/runner.ts";

/** Returns a result whose stored texts are masked; before they are cut, which may halve a match. */
export async function maskResult(mask: Mask, result: RunResult): Promise<RunResult> {
  const { judge } = result;
  const rest = judge ? { judge: { ...judge, answer: await mask.text(judge.answer) } } : {};
  if (result.kind === "failure") {
    return { ...result, ...rest, message: await mask.text(result.message) };
  }
  const { score, explanation } = result;
  return {
    ...result,
    ...rest,
    score: await mask.value(score),
    explanation: explanation === undefined ? undefined : await mask.text(explanation),
  };
}
