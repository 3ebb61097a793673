// Which scores pass: inside the run's range for the metric, or without one, by the metric's
// threshold. Source: docs/decisions.md, 27.

import type { JsonValue } from "../../base/json.ts";
import type { MetricType, Threshold } from "../metrics/definition.ts";

/** Bounds of passing scores, both included. */
export type PassingRange = { readonly min?: number; readonly max?: number };

/** A metric of the project, as results need it. */
export type KnownMetric = {
  readonly name: string;
  readonly type: MetricType;
  readonly threshold: Threshold | null;
};

/** Returns the number that a score counts as; undefined for texts and objects. */
export function numberOf(score: JsonValue | undefined): number | undefined {
  if (typeof score === "number") return score;
  return typeof score === "boolean" ? Number(score) : undefined;
}

/** Returns whether a score passes a range. Scores without a number pass only an open range. */
export function isInRange(score: JsonValue, { min, max }: PassingRange): boolean {
  const number = numberOf(score);
  if (number === undefined) return min === undefined && max === undefined;
  return (min === undefined || number >= min) && (max === undefined || number <= max);
}

/**
 * Returns whether a score passes every condition of a threshold; null without conditions. Booleans
 * count as 1 and 0, and a score of a kind that a condition is not for does not pass it.
 */
export function passes(score: JsonValue, threshold: Threshold | null): boolean | null {
  if (!threshold || Object.keys(threshold).length === 0) return null;
  const { pass_when: passWhen, passing_categories: categories } = threshold;
  if (passWhen !== undefined && numberOf(score) !== Number(passWhen)) return false;
  if (categories && !categories.some((category) => category === score)) return false;
  return isInRange(score, threshold);
}

/** Returns the bounds of a threshold; undefined without any. */
export function rangeOf(threshold: Threshold | null): PassingRange | undefined {
  if (threshold?.min === undefined && threshold?.max === undefined) return undefined;
  const { min, max } = threshold;
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
}

/** Returns whether smaller scores are better: only an upper bound, or false, passes. */
export function isSmallerBetter(
  bounds: PassingRange | undefined,
  threshold: Threshold | null,
): boolean {
  if (bounds) return bounds.min === undefined && bounds.max !== undefined;
  return threshold?.pass_when === false;
}
