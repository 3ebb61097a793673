// Aggregates of scores. Percentiles interpolate linearly. Source: docs/decisions.md, 27.

/** Aggregates by name, of at least one number. */
const aggregates = {
  average: (values) => sum(values) / values.length,
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
  return values.toSorted((a, b) => a - b).reduce((total, value) => total + value, 0);
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * part;
  const below = sorted[Math.floor(position)] ?? NaN;
  const above = sorted[Math.ceil(position)] ?? NaN;
  return below + (above - below) * (position - Math.floor(position));
}
