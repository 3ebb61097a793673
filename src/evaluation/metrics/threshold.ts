// Thresholds and categories of requests, checked against the return type.
// Source: docs/spec.md, "Metric definition"; docs/decisions.md, 22.2.

import { refuse } from "../../base/errors.ts";
import { categoriesMax, categoryLengthMax } from "../../base/field-limits.ts";
import { isDeepStrictEqual } from "node:util";
import type { Category, ScoreType, Threshold } from "./definition.ts";
import { assertText } from "../../base/assert-text.ts";
import type { ThresholdFields } from "./fields.ts";

const passWhenName = "threshold.pass_when";

type ThresholdContext = {
  readonly returnType: ScoreType;
  readonly categories: readonly Category[] | null;
  /** Name of `pass_when` in the request; default: that inside the threshold. */
  readonly passWhenField?: string | undefined;
};

/**
 * Returns the threshold in the fields; null if they contain none. Throws INVALID_ARGUMENT naming a
 * part that does not fit the return type or the categories.
 */
export function parseThreshold(
  fields: ThresholdFields,
  { returnType, categories, passWhenField = passWhenName }: ThresholdContext,
): Threshold | null {
  const { min, max, pass_when: passWhen } = fields;
  const passing = fields.passing_categories ?? [];
  assertBound("min", min, returnType);
  assertBound("max", max, returnType);
  if (min !== undefined && max !== undefined && min > max) {
    refuse("threshold.min", "must not be above threshold.max");
  }
  assertPassing(passing, returnType, categories);
  const threshold = {
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(passWhen !== undefined &&
      passWhen !== null && { pass_when: parsePassWhen(passWhenField, passWhen, returnType) }),
    ...(passing.length > 0 && { passing_categories: [...passing] }),
  };
  return Object.keys(threshold).length === 0 ? null : threshold;
}

function assertBound(name: "min" | "max", bound: number | undefined, type: ScoreType): void {
  if (bound === undefined) return;
  if (!Number.isFinite(bound)) refuse(`threshold.${name}`, "must be a finite number");
  if (type !== "float") refuse(`threshold.${name}`, `is for floats; ${hints[type]}`);
}

/** Hints, by type, to the fields that decide which scores pass. */
const hints: Readonly<Record<ScoreType, string>> = {
  float: "for floats give min, max or a number as pass_when",
  boolean: "for booleans give true or false as pass_when",
  string: "for texts give passing_categories",
  categorical: "for categories give passing_categories",
};

function parsePassWhen(field: string, value: unknown, type: ScoreType): boolean | number {
  if (type === "boolean" && typeof value === "boolean") return value;
  if (type === "float" && Number.isFinite(value)) return value as number;
  return refuse(field, `does not fit return_type ${type}; ${hints[type]}`);
}

function assertPassing(
  passing: readonly string[],
  type: ScoreType,
  categories: readonly Category[] | null,
): void {
  const field = "threshold.passing_categories";
  if (passing.length === 0) return;
  if (type === "float" || type === "boolean") refuse(field, `is for categories; ${hints[type]}`);
  if (passing.length > categoriesMax) refuse(field, `at most ${categoriesMax} are allowed`);
  for (const one of passing) {
    assertText(field, one, categoryLengthMax);
    if (type === "string" || categories?.some(({ category }) => category === one)) continue;
    refuse(field, `holds ${JSON.stringify(one)}, which is none of categories`);
  }
}

/**
 * Returns the categories; null if the return type has none. Throws INVALID_ARGUMENT if a
 * categorical evaluator has none, or if two differ only in case and spaces.
 */
export function parseCategories(
  given: readonly Category[],
  returnType: ScoreType,
): readonly Category[] | null {
  if (returnType !== "categorical") {
    if (given.length > 0) refuse("categories", "are only for return_type categorical");
    return null;
  }
  if (given.length === 0) refuse("categories", "are required for return_type categorical");
  if (given.length > categoriesMax) refuse("categories", `at most ${categoriesMax} are allowed`);
  const seen = new Set<string>();
  return given.map(({ category, score }, index) => {
    const field = `categories[${index}]`;
    assertText(`${field}.category`, category, categoryLengthMax);
    if (category.trim() === "") refuse(`${field}.category`, "must not be blank");
    // A judge's answer matches in any case.
    const key = category.trim().toLowerCase();
    if (seen.has(key)) {
      refuse(`${field}.category`, "is given twice; case and outer spaces do not count");
    }
    seen.add(key);
    if (score !== null && !Number.isFinite(score)) {
      refuse(`${field}.score`, "must be a finite number");
    }
    return { category, score };
  });
}

/** Returns threshold fields with the older `pass_when` added. Throws if the two differ. */
export function withPassWhen(
  fields: ThresholdFields,
  passWhen: ThresholdFields["pass_when"],
  isGiven: boolean,
): ThresholdFields {
  if (passWhen === undefined || passWhen === null) return fields;
  const { pass_when: own } = fields;
  const isOther = own !== undefined && own !== null && !isDeepStrictEqual(own, passWhen);
  if (isGiven && isOther) {
    refuse("pass_when", "says something else than threshold.pass_when; give one");
  }
  return { ...fields, pass_when: passWhen };
}
