// Thresholds of alerts: which of two is met by every value that meets the other.

import fc from "fast-check";
import { expect, test } from "vitest";
import { isWithin, meets, type Operator } from "../../../src/tracing/charts/threshold.ts";

const operators: readonly Operator[] = [
  ...(["greater_than", "greater_than_or_equal", "less_than", "less_than_or_equal"] as const),
];
const threshold = fc.record({
  operator: fc.constantFrom(...operators),
  value: fc.integer({ min: -2, max: 2 }),
});

test("a threshold is within another if each of its values meets the other", () => {
  // Halves lie between all bounds, and the ends beyond them.
  const values = Array.from({ length: 15 }, (_, at) => (at - 7) / 2);

  fc.assert(
    fc.property(threshold, threshold, (inner, outer) => {
      const own = values.filter((value) => meets(inner, value));
      expect(isWithin(inner, outer)).toBe(own.every((value) => meets(outer, value)));
    }),
  );
});
