// The keys that read the points of a chart.

import { expect, test } from "vitest";
import { pointAfterKey } from "../../../src/web/app/design/point-keys.ts";

test.each([
  { key: "ArrowRight", before: undefined, after: 0 },
  { key: "ArrowLeft", before: undefined, after: 4 },
  { key: "ArrowRight", before: 1, after: 2 },
  { key: "ArrowRight", before: 4, after: 4 },
  { key: "ArrowLeft", before: 0, after: 0 },
  // The chart had more points before.
  { key: "ArrowLeft", before: 9, after: 4 },
  { key: "Home", before: 3, after: 0 },
  { key: "End", before: 3, after: 4 },
  { key: "a", before: 3, after: undefined },
])("$key leads from point $before to $after of five", ({ key, before, after }) => {
  expect(pointAfterKey(key, before, 5)).toBe(after);
});

test("a chart without points has none to lead to", () => {
  expect(pointAfterKey("End", undefined, 0)).toBeUndefined();
});
