// Parses the definition of a run request. Source: docs/spec.md, "Metrics and evaluations";
// docs/decisions.md, 22.

import { ServiceError } from "../../base/errors.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { Category, ScoreType, Threshold } from "../metrics/definition.ts";
import type { DefinitionFields, ThresholdFields } from "../metrics/fields.ts";
import { parseReturnType, refuse } from "../metrics/fields.ts";
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
    const threshold = toThreshold(input.threshold);
    const categories = input.categories.map(toCategory);
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

const thresholdNames: readonly string[] = ["min", "max", "pass_when", "passing_categories"];

function toThreshold(json: JsonObject = {}): ThresholdFields {
  const unknown = Object.keys(json).find((name) => !thresholdNames.includes(name));
  if (unknown !== undefined) {
    refuse(`threshold.${unknown}`, `is none of ${thresholdNames.join(", ")}`);
  }
  return {
    min: toNumber(json["min"], "threshold.min"),
    max: toNumber(json["max"], "threshold.max"),
    pass_when: json["pass_when"] ?? undefined,
    passing_categories: toTexts(json["passing_categories"], "threshold.passing_categories"),
  };
}

function toNumber(value: JsonValue | undefined, field: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "number" ? value : refuse(field, "must be a number");
}

function toTexts(value: JsonValue | undefined, field: string): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (isJsonArray(value)) {
    const texts = value.filter((item) => typeof item === "string");
    if (texts.length === value.length) return texts;
  }
  return refuse(field, "must be a list of texts");
}

function toCategory(json: JsonObject, index: number): Category {
  const field = `categories[${index}]`;
  if (!isJsonObject(json)) refuse(field, "must be an object");
  const { category, score, ...others } = json;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) refuse(`${field}.${unknown}`, "is none of category, score");
  if (typeof category !== "string") refuse(`${field}.category`, "must be text");
  return { category, score: toNumber(score, `${field}.score`) ?? null };
}
