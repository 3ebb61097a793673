// Which values of a line stand alone: a point shows them, since no line leads there. The axes.

import { expect, test } from "vitest";
import { formatDuration, formatExactDuration } from "../../../src/web/app/design/format.ts";
import {
  isolatedIndexes,
  lookOf,
  strokesOf,
  timeAxis,
  valueAxis,
  valueSteps,
} from "../../../src/web/app/design/plot-values.ts";

test.each([
  [
    [1, null, 2, 3, null, null, 4],
    [0, 6],
  ],
  [[null, 5, null], [1]],
  [[7], [0]],
  [[null, 0, undefined, 0, 0], [1]],
])("of %j", (values, alone) => {
  expect(isolatedIndexes(values)).toEqual(alone);
});

test("the axis of a single point is as wide as its bucket", () => {
  const got = timeAxis({ kind: "line", times: [7_200_000], unit: "hour" });

  expect(got).toEqual([5_400, 9_000]);
});

test.each([[[]], [[1, 2, 3]], [[null, null]]])("none of %j", (values) => {
  expect(isolatedIndexes(values)).toBeNull();
});

test.each([
  { name: "begins at 0", bounds: [50, 100], want: [0, 106] },
  { name: "holds values below 0", bounds: [-50, 100], want: [-53, 106] },
  { name: "ends at 0 where every value is below", bounds: [-100, -50], want: [-106, 0] },
  { name: "has a height where every value is 0", bounds: [0, 0], want: [0, 1] },
  { name: "has a height without values", bounds: [null, null], want: [0, 1] },
])("the axis of values $name", ({ bounds: [min = null, max = null], want }) => {
  expect(valueAxis(min, max)).toEqual(want);
});

test("thirty lines differ, each by its colour or its strokes", () => {
  const looks = Array.from({ length: 30 }, (_, index) => lookOf(index));
  const drawn = looks.map((look) => `${look.color} ${strokesOf(look).join("-")}`);

  expect(new Set(drawn).size).toBe(30);
  expect(looks.slice(0, 6).map(strokesOf)).toEqual(looks.slice(0, 6).map(() => []));
});

test("durations have ticks that are written without rounding", () => {
  const steps = valueSteps([[0.5, null, 9e9]], true).filter((step) => step >= 1 && step < 8.64e7);

  expect(steps.map(formatDuration)).toEqual(steps.map(formatExactDuration));
  expect(steps).toContain(1_800_000);
  expect(steps).not.toContain(2_500_000);
});

test("counts have whole ticks, other values parts of them", () => {
  const [least] = valueSteps([[1, null, undefined, 3]], false);

  expect(least).toBe(1);
  expect(valueSteps([[0.5]], false)).toContain(0.25);
});
