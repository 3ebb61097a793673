// Conditions, other than sampling, for an evaluator to run online on an event.
// Source: docs/spec.md, "Metrics and evaluations"; docs/decisions.md, 22.2, 23.

import type { FilterInput } from "../../tracing/export/filter.ts";
import type { RoutedEvaluator } from "../metrics/definition.ts";

/** Sources whose events are not evaluated online; experiments and the playground score them. */
export const excludedSources: readonly string[] = ["evaluation", "playground"];

export const sourceFilters: readonly FilterInput[] = excludedSources.map((value) => ({
  field: "source",
  operator: "is not",
  value,
}));

/** Holds if an event has ground truth that is not null. */
export const hasGroundTruthFilter: FilterInput = {
  field: "feedback.ground_truth",
  operator: "exists",
};

/** Returns the filters of an evaluator, followed by the filters for all evaluators. */
export function onlineFilters(
  evaluator: Pick<RoutedEvaluator, "definition" | "readsGroundTruth">,
): FilterInput[] {
  return [
    ...evaluator.definition.filters.filterArray,
    ...sourceFilters,
    ...(evaluator.readsGroundTruth ? [hasGroundTruthFilter] : []),
  ];
}
