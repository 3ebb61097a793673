// Aggregates of scores. Percentiles interpolate linearly. Source: docs/decisions.md, 27.

import { meanOf } from "../../base/rounding.ts";

/** Aggregates by name, of at least one number. */
const aggregates = {
  average: (values) => meanOf(sorted(values)) ?? NaN,
  sum,
  count: (values) => values.length,
  min: (values) => percentile(values, 0),
  max: (values) => percentile(values, 1),
  median: (values) => percentile(values, 0.5),
  p90: (values) => percentile(values, 0.9),
  p95: (values) => percentile(values, 0.95),
  p99: (values) => percentile(values, 0.99),
} as const satisfies Record<string, (values: readonly number[]) => number>;

export type AggregateName = keyof typeof aggregates;

export const aggregateNames = Object.keys(aggregates) as readonly AggregateName[];

/** Returns the aggregate of values; null without any. */
export function aggregate(name: AggregateName, values: readonly number[]): number | null {
  return values.length === 0 ? null : aggregates[name](values);
}

/** Adds from the smallest to the greatest, so that the total does not depend on the order. */
function sum(values: readonly number[]): number {
  return sorted(values).reduce((total, value) => total + value, 0);
}

function percentile(values: readonly number[], part: number): number {
  const ordered = sorted(values);
  const position = (ordered.length - 1) * part;
  const below = ordered[Math.floor(position)] ?? NaN;
  const above = ordered[Math.ceil(position)] ?? NaN;
  return below + (above - below) * (position - Math.floor(position));
}

/** Returns the numbers from the smallest to the greatest, without a call of ours per comparison. */
function sorted(values: readonly number[]): Float64Array {
  return Float64Array.from(values).sort();
}
