// Comparison of two runs by a metric whose scores are texts, such as categories.
// Source: docs/experiments.md, "A comparison".

import type { Steps } from "../../base/paced.ts";
import { itemsOfStep, type Score } from "./scoring.ts";

/** Ids of datapoints with a text in both runs. */
export type ComparedTexts = {
  /** Those that pass in the newer run alone. */
  readonly improved: readonly string[];
  /** Those that pass in the older run alone. */
  readonly degraded: readonly string[];
  readonly same: readonly string[];
  /** Those with another text in the newer run, whether they pass or not. */
  readonly changed: readonly string[];
};

/** Sorts the datapoints by what became of their texts; of several, all count, in any order. */
export function* compareTexts(
  older: readonly Score[],
  newer: readonly Score[],
): Steps<ComparedTexts> {
  const before = yield* textsByDatapoint(older);
  const after = yield* textsByDatapoint(newer);
  const found = { improved: [] as string[], degraded: [] as string[], same: [] as string[] };
  const changed: string[] = [];
  let count = 0;
  for (const [id, now] of after) {
    const then = before.get(id);
    if (!then) continue;
    count += 1;
    if (count % itemsOfStep === 0) yield;
    const isChanged = toKey(then) !== toKey(now);
    if (isChanged) changed.push(id);
    if (now.passed !== then.passed) found[now.passed ? "improved" : "degraded"].push(id);
    else if (!isChanged) found.same.push(id);
  }
  return { ...found, changed };
}

type Texts = { readonly texts: string[]; passed: boolean };

function toKey({ texts }: Texts): string {
  return texts.length === 1 ? (texts[0] ?? "") : JSON.stringify(texts.toSorted());
}

function* textsByDatapoint(scores: readonly Score[]): Steps<ReadonlyMap<string, Texts>> {
  const byId = new Map<string, Texts>();
  for (let at = 0; at < scores.length; at += 1) {
    if (at % itemsOfStep === 0) yield;
    const { datapointId = null, value, passed = false } = scores[at] ?? {};
    if (datapointId === null || typeof value !== "string") continue;
    const known = byId.get(datapointId);
    if (known) {
      known.texts.push(value);
      known.passed &&= passed;
    } else byId.set(datapointId, { texts: [value], passed });
  }
  return byId;
}
