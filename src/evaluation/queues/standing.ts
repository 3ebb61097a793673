// Chooses the value on an event from several people's scores of one metric.
// Source: docs/decisions.md, 45.3.

import { meanOf } from "../../base/rounding.ts";
import type { ScoreType } from "../metrics/definition.ts";
import type { Score } from "../scores/score.ts";

/** A person's score, with its reason. */
export type PersonScore = {
  readonly reviewer: string;
  readonly returnType: ScoreType;
  readonly value: Score;
  readonly explanation: string | null;
};

export type Standing = { readonly score: Score; readonly explanation: string | null };

/**
 * Returns what stands of scores, the oldest first: of floats the mean, of booleans and categories
 * the most frequent value (of equally frequent ones that which was given first), of texts the last.
 * Each person's last score counts; scores of another return type do not. The explanation is that of
 * the last score with the value; of a mean, the last one. Undefined without scores.
 */
export function toStanding(
  given: readonly PersonScore[],
  returnType: ScoreType,
): Standing | undefined {
  const last = new Map<string, PersonScore>();
  for (const score of given.filter((one) => one.returnType === returnType)) {
    last.delete(score.reviewer);
    last.set(score.reviewer, score);
  }
  const scores = [...last.values()];
  const score = combine[returnType](scores.map(({ value }) => value));
  if (score === undefined) return undefined;
  const agreeing = returnType === "float" ? scores : scores.filter(({ value }) => value === score);
  const explained = agreeing.findLast(({ explanation }) => explanation !== null);
  return { score, explanation: explained?.explanation ?? null };
}

type Combine = (values: readonly Score[]) => Score | undefined;

const combine: { readonly [Type in ScoreType]: Combine } = {
  float: (values) => meanOf(values.map(Number)),
  boolean: findMostFrequent,
  categorical: findMostFrequent,
  string: (values) => values.at(-1),
};

function findMostFrequent(values: readonly Score[]): Score | undefined {
  const counts = new Map<Score, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return values.find((value) => counts.get(value) === most);
}
