// What requests say of a definition, before it is known to be one, and how its names, types and
// texts are read, the older ones among them. Called by to-definition.ts and by trials.
// Source: docs/spec.md, "Metric definition"; docs/decisions.md, 22.

import { ServiceError } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import type { FilterInput } from "../../tracing/export/filter.ts";
import type { Category, EvaluatorType, ScoreType } from "./definition.ts";

/** The names under which the code, prompt or question comes. */
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

/** By the names of the API; undefined says nothing, and null that there is none. */
export type DefinitionFields = CriteriaFields & {
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
  /** Older form of a filter; `all` is none, as for the name. */
  readonly event_type?: string | undefined;
  readonly event_name?: string | undefined;
  /** Of composite evaluators, which there are no more. */
  readonly child_metrics?: readonly unknown[] | undefined;
};

/** A text with the field that it came in. */
export type GivenText = { readonly field: string; readonly text: string };

/** Throws INVALID_ARGUMENT naming a field. */
export function refuse(field: string, fault: string): never {
  throw new ServiceError("INVALID_ARGUMENT", `${field}: ${fault}`);
}

/**
 * Returns the code, prompt or question, under whichever name it came; undefined where there is
 * none. Empty ones say nothing. Fails with INVALID_ARGUMENT where two say different things.
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

const types: Readonly<Record<string, EvaluatorType>> = {
  python: "PYTHON",
  custom: "PYTHON",
  llm: "LLM",
  model: "LLM",
  human: "HUMAN",
};

/** Returns a type by its name or an older one, in any case. Fails with INVALID_ARGUMENT. */
export function parseType(text: string, field = "type"): EvaluatorType {
  const name = text.toLowerCase();
  if (name === "composite") refuseComposite(field);
  const type = Object.hasOwn(types, name) ? types[name] : undefined;
  return type ?? refuse(field, "must be PYTHON, LLM or HUMAN");
}

/** Fails with INVALID_ARGUMENT, saying what to do instead. */
export function refuseComposite(field: string): never {
  return refuse(
    field,
    "composite evaluators were removed; make a PYTHON one that reads the scores of the others " +
      "from event['metrics']",
  );
}

const scoreTypes = ["float", "boolean", "string", "categorical"] as const;

/** Returns a return type by its name in any case. Fails with INVALID_ARGUMENT. */
export function parseReturnType(text: string, field = "return_type"): ScoreType {
  const type = scoreTypes.find((one) => one === text.toLowerCase());
  return type ?? refuse(field, `must be ${scoreTypes.slice(0, -1).join(", ")} or categorical`);
}

/** Throws INVALID_ARGUMENT unless a text can be stored and has at most so many characters. */
export function assertText(field: string, text: string, charactersMax: number): void {
  if (text.includes("\0") || !text.isWellFormed()) {
    refuse(field, "must hold neither NUL nor half of a surrogate pair");
  }
  // Characters, not UTF-16 units: an emoji is one.
  const isLonger =
    text.length > 2 * charactersMax ||
    (text.length > charactersMax && Array.from(text).length > charactersMax);
  if (isLonger) refuse(field, `must be at most ${charactersMax} characters long`);
}
