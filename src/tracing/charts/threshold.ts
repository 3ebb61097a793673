// Comparisons of a value with a number. Source: docs/decisions.md, 27.

import { refuseChoice } from "../../base/choices.ts";
import { refuse } from "../../base/errors.ts";
import { differenceOf } from "../../base/rounding.ts";

/** By operator, its sign, which is also that of SQL, and what the difference to the number is. */
const comparisons = {
  greater_than: { sign: ">", holds: (difference: number) => difference > 0 },
  greater_than_or_equal: { sign: ">=", holds: (difference: number) => difference >= 0 },
  less_than: { sign: "<", holds: (difference: number) => difference < 0 },
  less_than_or_equal: { sign: "<=", holds: (difference: number) => difference <= 0 },
};
export type Operator = keyof typeof comparisons;
const operators = Object.keys(comparisons) as readonly Operator[];

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
  const operator = operators.find((one) => one === name || comparisons[one].sign === name);
  if (!operator) {
    const signs = operators.map(signOf).join(", ");
    return refuseChoice(`${field}.operator`, operators, name, signs);
  }
  if (value === undefined || !Number.isFinite(value)) {
    return refuse(`${field}.value`, "must be a number");
  }
  return { operator, value };
}

/** Returns whether a value meets a threshold, whatever the rounding of its sum. */
export function meets({ operator, value: bound }: Threshold, value: number): boolean {
  return comparisons[operator].holds(differenceOf(value, bound));
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
  return comparisons[operator].holds(0);
}

/** Returns the sign of an operator, as people and SQL write it. */
export function signOf(operator: Operator): string {
  return comparisons[operator].sign;
}

/** Returns a threshold as people read it, such as `> 5`. */
export function describeThreshold({ operator, value }: Threshold): string {
  return `${signOf(operator)} ${value}`;
}
