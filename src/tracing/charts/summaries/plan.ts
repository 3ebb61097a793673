// Parts of an hour's summary that a question needs, and questions that summaries can answer.

import { createHash } from "node:crypto";
import type { Condition } from "../../export/condition.ts";
import type { Aggregation, ChartQuestion } from "../chart-query.ts";
import type { NumberSource, TextSource } from "../fields.ts";

/** Aggregate of a group's numbers that a summary keeps besides their count. */
export type Kept = "sum" | "min" | "max" | "values";

export type KeptSource = { readonly source: NumberSource; readonly keeps: readonly Kept[] };

export type SummaryPlan = {
  /** Equal for questions that need the same summaries. */
  readonly key: string;
  readonly split: TextSource | undefined;
  readonly sources: readonly KeptSource[];
  /** Place of each measure's source in `sources`. */
  readonly sourceOf: readonly number[];
};

const keptFor: Readonly<Record<Aggregation, Kept | undefined>> = {
  count: undefined,
  sum: "sum",
  avg: "sum",
  min: "min",
  max: "max",
  median: "values",
  p75: "values",
  p90: "values",
  p95: "values",
  p99: "values",
};

/** Returns the plan of a question; undefined if summaries of hours cannot answer it. */
export function planSummaries(
  question: ChartQuestion,
  conditions: readonly Condition[],
): SummaryPlan | undefined {
  const { kind, unit, split, measures } = question;
  // A histogram's bars depend on the least and the greatest number of the whole range.
  if (kind === "histogram" || unit === "minute") return undefined;
  // The times and sums of a session change with its events, at any time.
  if (!conditions.some(leavesSessionsOut)) return undefined;
  const keys = measures.map(({ source }) => JSON.stringify(source));
  const distinct = [...new Set(keys)];
  const sources = distinct.map((key): KeptSource => {
    const mine = measures.filter((_, at) => keys[at] === key);
    const keeps = new Set(mine.flatMap(({ aggregation }) => keptFor[aggregation] ?? []));
    return { source: JSON.parse(key) as NumberSource, keeps: [...keeps].toSorted() };
  });
  const identity = JSON.stringify([conditions, split?.source ?? null, sources]);
  return {
    key: createHash("sha256").update(identity).digest("base64"),
    split: split?.source,
    sources,
    sourceOf: keys.map((key) => distinct.indexOf(key)),
  };
}

/** Returns whether no event of type `session` meets a condition. */
function leavesSessionsOut({ target, test, negated }: Condition): boolean {
  if (target.kind !== "column" || target.name !== "event_type") return false;
  return test.kind === "equals" && (test.value === "session") === negated;
}
