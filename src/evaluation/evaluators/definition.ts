// What an evaluator is: its definition, as people write it, and the version of one that runs.
// Source: docs/spec.md, "Metric definition"; docs/decisions.md, 22 and 23.

import type { ProjectId } from "../../base/ids.ts";
import type { FilterInput } from "../../tracing/export/filter.ts";

export type EvaluatorType = "PYTHON" | "LLM" | "HUMAN";

export type ScoreType = "float" | "boolean" | "string" | "categorical";

/** Which scores pass. */
export type Threshold = {
  readonly min?: number;
  readonly max?: number;
  readonly pass_when?: boolean | number;
  readonly passing_categories?: readonly string[];
};

/** One of the scores that a categorical evaluator may give, and what it counts for. */
export type Category = { readonly category: string; readonly score: number | null };

/** Conditions on an event, all of which must hold. */
export type Filters = { readonly filterArray: readonly FilterInput[] };

/** Stored, shown and compared field by field under the names of the API. */
export type Definition = {
  /** Key of the scores in an event's `metrics`. */
  readonly name: string;
  readonly type: EvaluatorType;
  /** Python code, the judge's prompt, or what people are asked to judge. */
  readonly criteria: string;
  readonly description: string;
  readonly return_type: ScoreType;
  /** Whether it runs on events as they come. */
  readonly enabled_in_prod: boolean;
  /** 0 to 100. */
  readonly sampling_percentage: number;
  readonly model_provider: string | null;
  readonly model_name: string | null;
  /** Greatest score of a judge. */
  readonly scale: number | null;
  readonly threshold: Threshold | null;
  readonly categories: readonly Category[] | null;
  readonly filters: Filters;
};

/** A version of an evaluator, as it runs. */
export type RunnableEvaluator = {
  readonly evaluatorId: string;
  readonly projectId: ProjectId;
  readonly version: number;
  /** Counts the times that the evaluator was enabled, deployed or restored. */
  readonly enablement: number;
  readonly definition: Definition;
  readonly readsGroundTruth: boolean;
};

/** The same as far as it decides which events a version runs on: without its code or prompt. */
export type RoutedEvaluator = Omit<RunnableEvaluator, "definition"> & {
  readonly definition: Pick<Definition, "filters" | "sampling_percentage">;
};

/** Returns the name of a version: `v1`, `v2`, …. */
export function formatVersion(version: number): string {
  return `v${version}`;
}

/** Returns the number of a version; undefined for what is no name of one. */
export function parseVersion(name: string): number | undefined {
  const [, digits] = /^v([1-9]\d{0,8})$/.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
