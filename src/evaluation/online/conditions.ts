// Conditions, other than sampling, for an evaluator to run online on an event.
// Source: docs/spec.md, "Metrics and evaluations"; docs/decisions.md, 23, 25.2.

import type { FilterInput } from "../../tracing/export/filter.ts";
import type { RoutedEvaluator } from "../metrics/definition.ts";

/** Source of the events of experiments. */
const runSource = "evaluation";

/** Sources whose events are not evaluated online, except those of an experiment run. */
export const excludedSources: readonly string[] = [runSource, "playground"];

/** Returns whether no event of a source is evaluated online, in a run or not. */
export function isNeverEvaluated(source: string): boolean {
  return source !== runSource && excludedSources.includes(source);
}

/** Holds for the events of an experiment run, which are evaluated whatever the sampling. */
export const runFilters: readonly FilterInput[] = [
  { field: "source", operator: "is", value: runSource },
  { field: "metadata.run_id", operator: "exists" },
];

/**
 * Holds for a session without a result. Clients create the sessions of a run first and write their
 * outputs at the end, so such a session is not scored before its run has ended.
 */
export const openSessionFilters: readonly FilterInput[] = [
  { field: "event_type", operator: "is", value: "session" },
  { field: "outputs", operator: "not exists" },
  { field: "error", operator: "not exists" },
];

/** Holds for events outside experiments. */
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

/** Returns the filters of an evaluator, and the condition of ground truth if it reads that. */
export function onlineFilters(
  evaluator: Pick<RoutedEvaluator, "definition" | "readsGroundTruth">,
): FilterInput[] {
  return [
    ...evaluator.definition.filters.filterArray,
    ...(evaluator.readsGroundTruth ? [hasGroundTruthFilter] : []),
  ];
}
