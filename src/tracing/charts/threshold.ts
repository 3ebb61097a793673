// Comparisons of a value with a number. Source: docs/decisions.md, 27.

import { refuseChoice } from "../../base/choices.ts";
import { refuse } from "../../base/errors.ts";
import { differenceOf } from "../../base/rounding.ts";

const operatorSigns = {
  greater_than: ">",
  greater_than_or_equal: ">=",
  less_than: "<",
  less_than_or_equal: "<=",
} as const;
export type Operator = keyof typeof operatorSigns;
const operators = Object.keys(operatorSigns) as readonly Operator[];

export type Threshold = { readonly operator: Operator; readonly value: number };

export type ThresholdInput = {
  /** An operator or its sign. */
  readonly operator: string;
  readonly value?: number | undefined;
};

/** Throws INVALID_ARGUMENT naming the field. */
export function parseThreshold(field: string, given: ThresholdInput | undefined): Threshold {
  if (!given) return refuse(field, "is required");
  const { operator: name, value } = given;
  const operator = operators.find((one) => one === name || operatorSigns[one] === name);
  if (!operator) {
    const signs = Object.values(operatorSigns).join(", ");
    return refuseChoice(`${field}.operator`, operators, name, signs);
  }
  if (value === undefined || !Number.isFinite(value)) {
    return refuse(`${field}.value`, "must be a number");
  }
  return { operator, value };
}

/** Returns whether a value meets a threshold, whatever the rounding of its sum. */
export function meets({ operator, value: bound }: Threshold, value: number): boolean {
  const difference = differenceOf(value, bound);
  switch (operator) {
    case "greater_than":
      return difference > 0;
    case "greater_than_or_equal":
      return difference >= 0;
    case "less_than":
      return difference < 0;
    case "less_than_or_equal":
      return difference <= 0;
  }
}

/** Returns whether every value that meets `inner` meets `outer` too. */
export function isWithin(inner: Threshold, outer: Threshold): boolean {
  const isAbove = inner.operator.startsWith("greater");
  if (isAbove !== outer.operator.startsWith("greater")) return false;
  if (inner.value === outer.value) return inner.operator === outer.operator || !hasBound(inner);
  return isAbove === inner.value > outer.value;
}

/** Returns whether the number of a threshold meets it. */
function hasBound({ operator }: Threshold): boolean {
  return operator === "greater_than_or_equal" || operator === "less_than_or_equal";
}

/** Returns a threshold as people read it, such as `> 5`. */
export function describeThreshold({ operator, value }: Threshold): string {
  return `${operatorSigns[operator]} ${value}`;
}
