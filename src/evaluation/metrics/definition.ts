// The definition of an evaluator, as users write it, and its running version.
// Source: docs/spec.md, "Metric definition"; docs/decisions.md, 22.2 and 23.

import type { ProjectId } from "../../base/ids.ts";
import type { FilterInput } from "../../tracing/export/filter.ts";

export type MetricType = "PYTHON" | "LLM" | "HUMAN";

export type ScoreType = "float" | "boolean" | "string" | "categorical";

/** Conditions for a score to pass. */
export type Threshold = {
  readonly min?: number;
  readonly max?: number;
  readonly pass_when?: boolean | number;
  readonly passing_categories?: readonly string[];
};

/** A possible score of a categorical evaluator, and its numeric value. */
export type Category = { readonly category: string; readonly score: number | null };

/** Conditions on an event, all of which must hold. */
export type Filters = { readonly filterArray: readonly FilterInput[] };

/** Texts of a metric under their older names, without its definition. */
export type OlderTexts = {
  readonly criteria?: string;
  readonly code_snippet?: string;
  readonly prompt?: string;
};

/** Definition, stored, shown and compared field by field under the names of the API. */
export type Definition = {
  /** Key of the scores in an event's `metrics`. */
  readonly name: string;
  readonly type: MetricType;
  /** Python code, the judge's prompt, or the question for people. */
  readonly criteria: string;
  /** Texts that older clients sent beside the definition; nothing but their answers uses them. */
  readonly older_texts?: OlderTexts;
  readonly description: string;
  readonly return_type: ScoreType;
  /** Whether it runs on new events. */
  readonly enabled_in_prod: boolean;
  /** Percentage from 0 to 100. */
  readonly sampling_percentage: number;
  readonly model_provider: string | null;
  readonly model_name: string | null;
  /** Maximum score of a judge. */
  readonly scale: number | null;
  readonly threshold: Threshold | null;
  readonly categories: readonly Category[] | null;
  readonly filters: Filters;
};

/** A runnable version of an evaluator. */
export type RunnableEvaluator = {
  readonly evaluatorId: string;
  readonly projectId: ProjectId;
  readonly version: number;
  /**
   * Number that grows whenever the count of failures starts again: at deployments by people, and at
   * backfills of a disabled evaluator.
   */
  readonly enablement: number;
  readonly definition: Definition;
  readonly readsGroundTruth: boolean;
};

/** The part of it that decides which events a version runs on: without code and prompt. */
export type RoutedEvaluator = Omit<RunnableEvaluator, "definition"> & {
  readonly definition: Pick<Definition, "filters" | "sampling_percentage">;
};
