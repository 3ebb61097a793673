// What an event must meet, beside sampling, for an evaluator to run on it by itself.
// Source: docs/spec.md, "Metrics and evaluations"; docs/decisions.md, 22, 23.

import type { FilterInput } from "../../tracing/export/filter.ts";
import type { RoutedEvaluator } from "../evaluators/definition.ts";

/** Experiments and tries score their own events. */
export const excludedSources: readonly string[] = ["evaluation", "playground"];

/** Holds where an event has ground truth that is not null. */
export const hasGroundTruthFilter: FilterInput = {
  field: "feedback.ground_truth",
  operator: "exists",
};

/** Returns the filters of an evaluator, and behind them those that hold for all. */
export function onlineFilters(
  evaluator: Pick<RoutedEvaluator, "definition" | "readsGroundTruth">,
): FilterInput[] {
  return [
    ...evaluator.definition.filters.filterArray,
    ...excludedSources.map((value) => ({ field: "source", operator: "is not", value })),
    ...(evaluator.readsGroundTruth ? [hasGroundTruthFilter] : []),
  ];
}
