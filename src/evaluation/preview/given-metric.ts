// Parses the definition of a run request. Source: docs/spec.md, "Metrics and evaluations";
// docs/decisions.md, 22.2.

import { refuse, ServiceError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { readCategory, readThreshold } from "../metrics/content-fields.ts";
import type { Category, ScoreType, Threshold } from "../metrics/definition.ts";
import { type DefinitionFields, parseReturnType, type ThresholdFields } from "../metrics/fields.ts";
import { type GivenDefinition, type Limits, toDefinition } from "../metrics/to-definition.ts";
import type { RunnableDefinition } from "../runner/runner.ts";

/** Fields of a request, with the names of the API; the definition may be in any of four fields. */
export type MetricInput = Pick<
  DefinitionFields,
  | "type"
  | "definition"
  | "criteria"
  | "code_snippet"
  | "prompt"
  | "return_type"
  | "model_provider"
  | "model_name"
  | "scale"
> & {
  readonly threshold?: JsonObject | undefined;
  readonly categories: readonly JsonObject[];
};

export type GivenMetric = {
  /** Definition as it would be saved. */
  readonly given: GivenDefinition;
  readonly runnable: RunnableDefinition;
  readonly threshold: Threshold | null;
};

const metricName = "trial";

/**
 * Checks a definition as if it were saved. Code may give any score if it has no return type and
 * neither categories nor a threshold imply one. Throws INVALID_ARGUMENT naming the field.
 */
export function toGivenMetric(input: MetricInput, limits: Limits): GivenMetric {
  return inMetric(() => {
    const threshold = readThreshold(input.threshold ?? {}, "threshold");
    const categories = input.categories.map((one, index) =>
      readCategory(one, `categories[${index}]`),
    );
    const said = input.return_type ? parseReturnType(input.return_type) : undefined;
    const returnType = said ?? impliedType(threshold, categories);
    const fields = { ...input, name: metricName, return_type: returnType ?? "float" };
    const given = toDefinition({ ...fields, threshold, categories }, undefined, limits);
    const { definition } = given;
    if (definition.type === "HUMAN") {
      refuse("type", "HUMAN is judged by people; run one of type PYTHON or LLM");
    }
    const isJudge = definition.type === "LLM";
    const runnable = { ...definition, return_type: returnType ?? (isJudge ? "float" : undefined) };
    return { given, runnable, threshold: definition.threshold };
  });
}

/** Prefixes the field that an error names with its place in the request. */
function inMetric<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toInMetric(error);
  }
}

/** Returns the error with `metric.` before the field that it names. */
export function toInMetric(error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.reason !== "INVALID_ARGUMENT") return error;
  return new ServiceError("INVALID_ARGUMENT", `metric.${error.message}`, { cause: error });
}

function impliedType(
  { pass_when: passWhen, passing_categories: passing = [] }: ThresholdFields,
  categories: readonly Category[],
): ScoreType | undefined {
  if (categories.length > 0) return "categorical";
  if (typeof passWhen === "boolean") return "boolean";
  return passing.length > 0 ? "string" : undefined;
}
