// Which values of a line stand alone: a point shows them, since no line leads there.

import { expect, test } from "vitest";
import { isolatedIndexes, timeAxis } from "../../../src/web/app/design/plot-values.ts";

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
