// How far an evaluator agrees with itself: numbers of two runs on each of some events.

import { equals } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import type { RunMetricResponse } from "../../../../../gen/waggle/v1/evaluator_pb.js";

/** A run that has ended has an answer or an error. */
type Run = { readonly answer?: RunMetricResponse; readonly error?: unknown };

/** Two runs on one event; undefined for one that has not begun. */
export type Pair<One extends Run = Run> = readonly [One | undefined, One | undefined];

export type Consistency = {
  /** Events with two scores. */
  readonly compared: number;
  /** Events whose scores are equal. */
  readonly same: number;
  /** Events that passed in one run and not in the other; absent without a threshold. */
  readonly flips?: number;
  /** Mean of the absolute differences; absent where scores are not numbers. */
  readonly difference?: number;
  /** Events without two scores: a run failed, or the event lacks ground truth. */
  readonly unscored: number;
  /** US dollars of the calls with a known price. */
  readonly cost: number;
};

export function consistencyOf(pairs: readonly Pair[]): Consistency {
  const scored = pairs.map(answersOf).filter((answers) => answers !== undefined);
  const judged = scored.filter((answers) => answers.every(({ passed }) => passed !== undefined));
  const differences = scored.flatMap(([first, second]) => {
    const [one, other] = [numberOf(first.result), numberOf(second.result)];
    return one === undefined || other === undefined ? [] : [Math.abs(one - other)];
  });
  const costs = pairs.flat().map((run) => run?.answer?.judge?.cost ?? 0);
  return {
    compared: scored.length,
    same: scored.filter(isSame).length,
    unscored: pairs.filter((pair) => pair.some(isUnscored)).length,
    cost: sumOf(costs),
    ...(judged.length > 0 && {
      flips: judged.filter(([one, other]) => one.passed !== other.passed).length,
    }),
    ...(differences.length > 0 && { difference: sumOf(differences) / differences.length }),
  };
}

/** Returns whether a run has ended without a score. */
function isUnscored(run: Run | undefined): boolean {
  return run?.error !== undefined || run?.answer?.success === false;
}

/** Answers of two runs that scored the same event. */
type Answers = readonly [RunMetricResponse, RunMetricResponse];

/** Returns the answers of two runs; undefined unless both have a score. */
function answersOf([first, second]: Pair): Answers | undefined {
  if (!first?.answer?.success || !second?.answer?.success) return undefined;
  return [first.answer, second.answer];
}

function isSame([{ result: one }, { result: other }]: Answers): boolean {
  return one !== undefined && other !== undefined && equals(ValueSchema, one, other);
}

/** Returns whether two runs gave one event different scores. */
export function differs(pair: Pair): boolean {
  const answers = answersOf(pair);
  return answers !== undefined && !isSame(answers);
}

function numberOf(score: Value | undefined): number | undefined {
  return score?.kind.case === "numberValue" ? score.kind.value : undefined;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
