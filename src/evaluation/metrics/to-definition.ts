// Builds a definition from the fields of a request and the previous definition, or names the wrong
// field. Pure. Source: docs/spec.md, "Metric definition"; docs/decisions.md, 22.2 and 23.

import { refuse } from "../../base/errors.ts";
import {
  metricDescriptionLengthMax,
  metricNameLengthMax,
  savedModelLengthMax,
  scaleMax,
} from "../../base/field-limits.ts";
import type { Definition, Filters, MetricType, OlderTexts } from "./definition.ts";
import { parseEventFilters, withOlderFilter } from "./event-filters.ts";
import { assertName, assertText } from "../../base/assert-text.ts";
import { parseReturnType, parseType, refuseComposite } from "./fields.ts";
import type { DefinitionFields, GivenText } from "./fields.ts";
import { olderNames, splitTexts, type SplitTexts } from "./older-texts.ts";
import { parseCategories, parseThreshold, withPassWhen } from "./threshold.ts";

export type Limits = { readonly codeBytesMax: number };

/** A definition, and the request's field with its code, prompt or question. */
export type GivenDefinition = {
  readonly definition: Definition;
  readonly criteriaField: string;
};

const samplingDefault = 10;

/**
 * Returns the definition with the given fields, on top of the previous one, if any. Throws
 * INVALID_ARGUMENT or INVALID_FILTER naming the field. Does not parse code and prompts.
 */
export function toDefinition(
  fields: DefinitionFields,
  before: Definition | undefined,
  limits: Limits,
): GivenDefinition {
  if ((fields.child_metrics ?? []).length > 0) refuseComposite("child_metrics");
  const type = parseGiven(fields.type, parseType) ?? before?.type ?? missing("type");
  const name = parseGiven(fields.name, parseName) ?? before?.name ?? missing("name");
  const { given, kept } = splitTexts(fields, type, before);
  const criteria = toCriteria({ fields, given, type }, before, limits);
  const definition = {
    name,
    type,
    criteria: criteria.text,
    ...(kept && { older_texts: parseKept(kept, limits) }),
    description: parseGiven(fields.description, parseDescription) ?? before?.description ?? "",
    ...toScores(fields, before),
    enabled_in_prod: fields.enabled_in_prod ?? before?.enabled_in_prod ?? false,
    sampling_percentage:
      parseGiven(fields.sampling_percentage, parseSampling) ??
      before?.sampling_percentage ??
      samplingDefault,
    ...toJudge(fields, before, type),
    scale: parseScale(orBefore(fields.scale, before?.scale) ?? null),
    filters: toFilters(fields, before),
  };
  return { definition, criteriaField: criteria.field };
}

function parseGiven<Given, T>(given: Given | undefined, parse: (given: Given) => T): T | undefined {
  return given === undefined ? undefined : parse(given);
}

function missing(field: string): never {
  return refuse(field, "is required");
}

function parseName(name: string): string {
  if (name.trim() !== name) refuse("name", "must neither begin nor end with a blank");
  assertName("name", name, metricNameLengthMax);
  const suffix = ["_explanation", "_failure"].find((one) => name.endsWith(one));
  if (suffix !== undefined) {
    refuse("name", `must not end in ${suffix}, under which metrics hold something else`);
  }
  return name;
}

type Said = Pick<SplitTexts, "given"> & {
  readonly fields: DefinitionFields;
  readonly type: MetricType;
};

function toCriteria(
  { fields, given, type }: Said,
  before: Definition | undefined,
  limits: Limits,
): GivenText {
  if (given === undefined) {
    const { criteria, definition, code_snippet: code, prompt, older_texts: older } = fields;
    const own = older?.[olderNames[type]];
    const isEmptied = [criteria, definition, code, prompt, own].includes("");
    if (isEmptied || before === undefined) refuse("criteria", "is required and must not be empty");
    return { field: "criteria", text: before.criteria };
  }
  const { field, text } = given;
  if (text.trim() === "") refuse(field, "must not be blank");
  assertWithin(field, text, limits);
  return given;
}

function assertWithin(field: string, text: string, { codeBytesMax }: Limits): void {
  assertText(field, text, codeBytesMax);
  const bytes = Buffer.byteLength(text);
  if (bytes > codeBytesMax)
    refuse(field, `has ${bytes} bytes; at most ${codeBytesMax} are allowed`);
}

function parseKept(kept: OlderTexts, limits: Limits): OlderTexts {
  for (const [name, text] of Object.entries(kept)) assertWithin(name, text, limits);
  return kept;
}

function parseDescription(description: string): string {
  assertText("description", description, metricDescriptionLengthMax);
  return description;
}

function parseSampling(percentage: number): number {
  if (percentage >= 0 && percentage <= 100) return percentage;
  return refuse("sampling_percentage", "must be from 0 to 100");
}

/** Returns the possible scores, and the conditions to pass. */
function toScores(
  fields: DefinitionFields,
  before: Definition | undefined,
): Pick<Definition, "return_type" | "threshold" | "categories"> {
  const type = parseGiven(fields.return_type, parseReturnType) ?? before?.return_type ?? "float";
  // Previous categories are dropped with the return type that they belong to.
  const kept = type === "categorical" ? before?.categories : null;
  const categories = parseCategories(orBefore(fields.categories, kept) ?? [], type);
  const given = withPassWhen(
    orBefore(fields.threshold, before?.threshold) ?? {},
    fields.pass_when,
    fields.threshold !== undefined,
  );
  const passWhenField = fields.pass_when == null ? undefined : "pass_when";
  const threshold = parseThreshold(given, { returnType: type, categories, passWhenField });
  return { return_type: type, threshold, categories };
}

function orBefore<T>(given: T | undefined, before: T | undefined): T | undefined {
  return given === undefined ? before : given;
}

type JudgeFields = Pick<Definition, "model_provider" | "model_name">;

function toJudge(
  fields: DefinitionFields,
  before: Definition | undefined,
  type: MetricType,
): JudgeFields {
  if (type !== "LLM") {
    for (const field of ["model_provider", "model_name"] as const) {
      if (fields[field]) refuse(field, "is only for type LLM");
    }
    return { model_provider: null, model_name: null };
  }
  return {
    model_provider: parseModel("model_provider", fields, before),
    model_name: parseModel("model_name", fields, before),
  };
}

function parseModel(
  field: "model_provider" | "model_name",
  fields: DefinitionFields,
  before: Definition | undefined,
): string {
  const text = orBefore(fields[field], before?.[field]) ?? "";
  if (text.trim() === "") refuse(field, "is required for type LLM");
  assertText(field, text, savedModelLengthMax);
  return text;
}

function parseScale(scale: number | null): number | null {
  if (scale === null || (Number.isInteger(scale) && scale >= 1 && scale <= scaleMax)) return scale;
  return refuse("scale", `must be a whole number from 1 to ${scaleMax}`);
}

function toFilters(fields: DefinitionFields, before: Definition | undefined): Filters {
  const given = fields.filters ?? before?.filters.filterArray ?? [];
  const typed = withOlderFilter(given, "event_type", fields.event_type);
  return parseEventFilters(withOlderFilter(typed, "event_name", fields.event_name));
}
