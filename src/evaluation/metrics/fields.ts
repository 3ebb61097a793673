// Fields of a definition in requests, before validation, and readers of their names, types and
// texts, older forms included. Source: docs/spec.md, "Metric definition"; docs/decisions.md, 22.1.

import { refuse } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import type { FilterInput } from "../../tracing/export/filter.ts";
import type { Category, MetricType, OlderTexts, ScoreType } from "./definition.ts";

/** Field names of the code, prompt or question. */
const criteriaNames = ["criteria", "definition", "code_snippet", "prompt"] as const;

export type CriteriaFields = {
  readonly [Name in (typeof criteriaNames)[number]]?: string | undefined;
};

export type ThresholdFields = {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly pass_when?: JsonValue | undefined;
  readonly passing_categories?: readonly string[] | undefined;
};

/** Fields under the names of the API; undefined means omitted, null means none. */
export type DefinitionFields = CriteriaFields & {
  /** Texts of older clients; one may be the definition. Null removes the kept texts. */
  readonly older_texts?: OlderTexts | null | undefined;
  readonly name?: string | undefined;
  readonly type?: string | undefined;
  readonly description?: string | undefined;
  readonly return_type?: string | undefined;
  readonly enabled_in_prod?: boolean | undefined;
  readonly sampling_percentage?: number | undefined;
  readonly model_provider?: string | null | undefined;
  readonly model_name?: string | null | undefined;
  readonly scale?: number | null | undefined;
  readonly threshold?: ThresholdFields | null | undefined;
  readonly categories?: readonly Category[] | null | undefined;
  readonly filters?: readonly FilterInput[] | undefined;
  /** Older form of `threshold.pass_when`. */
  readonly pass_when?: JsonValue | undefined;
  /** Older form of a filter; `all` means no filter, also for the name. */
  readonly event_type?: string | undefined;
  readonly event_name?: string | undefined;
  /** Members of composite evaluators, which no longer exist. */
  readonly child_metrics?: readonly unknown[] | undefined;
};

/** A text with the name of its field. */
export type GivenText = { readonly field: string; readonly text: string };

/**
 * Returns the code, prompt or question from any of its fields; undefined if there is none. Empty
 * texts count as absent. Throws INVALID_ARGUMENT if two differ.
 */
export function criteriaOf(fields: CriteriaFields): GivenText | undefined {
  const given = criteriaNames.flatMap((field) => {
    const text = fields[field];
    return text ? [{ field, text }] : [];
  });
  const [first] = given;
  const other = given.find(({ text }) => text !== first?.text);
  if (first && other) {
    refuse(other.field, `says something else than ${first.field}, which is the same; give one`);
  }
  return first;
}

const types: Readonly<Record<string, MetricType>> = {
  python: "PYTHON",
  custom: "PYTHON",
  llm: "LLM",
  model: "LLM",
  human: "HUMAN",
};

/** Returns a type by its name or an older one, in any case. Throws INVALID_ARGUMENT. */
export function parseType(text: string): MetricType {
  const name = text.toLowerCase();
  if (name === "composite") refuseComposite("type");
  const type = Object.hasOwn(types, name) ? types[name] : undefined;
  return type ?? refuse("type", "must be PYTHON, LLM or HUMAN");
}

/** Throws INVALID_ARGUMENT with the alternative to composite evaluators. */
export function refuseComposite(field: string): never {
  return refuse(
    field,
    "composite evaluators were removed; make a PYTHON one that reads the scores of the others " +
      "from event['metrics']",
  );
}

const scoreTypes = ["float", "boolean", "string", "categorical"] as const;

/** Returns a return type by its name in any case. Throws INVALID_ARGUMENT. */
export function parseReturnType(text: string): ScoreType {
  const type = scoreTypes.find((one) => one === text.toLowerCase());
  return (
    type ?? refuse("return_type", `must be ${scoreTypes.slice(0, -1).join(", ")} or categorical`)
  );
}
