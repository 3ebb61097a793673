// Means of numbers, which rounding does not lead out of the numbers.

import fc from "fast-check";
import { expect, test } from "vitest";
import { meanOf } from "../../../src/base/rounding.ts";

test("a mean lies between the least number and the greatest", () => {
  const numbers = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 });

  fc.assert(
    fc.property(numbers, (some) => {
      const mean = meanOf(some) ?? NaN;
      expect(mean).toBeGreaterThanOrEqual(Math.min(...some));
      expect(mean).toBeLessThanOrEqual(Math.max(...some));
    }),
  );
});

test.each([
  [[], undefined],
  [[3, 4, 8], 5],
  [[0.7, 0.7, 0.7], 0.7],
  [[1e308, 1e308, -1e308, -1e308], 0],
])("the mean of %j is %j", (numbers, want) => {
  expect(meanOf(numbers)).toBe(want);
});
