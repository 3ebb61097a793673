// The time axis of a histogram: places of buckets, and ticks on whole hours and days.

import { expect, test } from "vitest";
import { stackHeights, tickTimes, toBuckets } from "../../../src/web/app/design/histogram-scale.ts";

const hourMs = 3_600_000;
const startMs = new Date(2026, 4, 3, 22).getTime();
const hours = (count: number) => Array.from({ length: count }, (_, at) => startMs + at * hourMs);

test("buckets fill the width, each up to the start of the next", () => {
  const [first, second, third] = toBuckets([startMs, startMs + hourMs, startMs + 3 * hourMs]);

  expect(first).toEqual({ from: startMs, to: startMs + hourMs - 1, left: 0, width: 0.2 });
  expect(second).toMatchObject({ to: startMs + 3 * hourMs - 1, left: 0.2, width: 0.4 });
  expect(third).toMatchObject({ to: startMs + 5 * hourMs - 1, left: 0.6, width: 0.4 });
});

test("ticks stand on whole hours, at most six of them", () => {
  const ticks = tickTimes(toBuckets(hours(24))).map(({ timeMs }) => new Date(timeMs).getHours());

  expect(ticks).toEqual([0, 6, 12, 18]);
});

test("ticks of long ranges stand on midnights", () => {
  const ticks = tickTimes(toBuckets(hours(24 * 90)));

  expect(ticks.length).toBeGreaterThan(1);
  expect(ticks.length).toBeLessThanOrEqual(6);
  expect(ticks.map(({ timeMs }) => new Date(timeMs).getHours())).toEqual(ticks.map(() => 0));
});

test("no buckets have no ticks, and one has a width", () => {
  expect(tickTimes(toBuckets([]))).toEqual([]);
  expect(toBuckets([startMs])).toMatchObject([{ left: 0, width: 1 }]);
  expect(toBuckets([startMs], "minute")).toMatchObject([{ to: startMs + 59_999 }]);
});

test.each([
  { name: "small counts beside a spike", values: [58, 2], max: 100_000, want: [2, 2] },
  { name: "zeros", values: [0, 0], max: 100_000, want: [0, 0] },
  { name: "one error on a bar of full height", values: [999, 1], max: 1_000, want: [48, 2] },
  { name: "one call under errors of full height", values: [1, 999], max: 1_000, want: [2, 48] },
  { name: "large counts to scale", values: [30, 10], max: 100, want: [15, 5] },
  { name: "nothing at all", values: [], max: 1, want: [] },
])("bars show $name", ({ values, max, want }) => {
  const got = stackHeights(values, { max, heightPx: 50 });

  expect(got.map((height) => Math.round(height * 100) / 100)).toEqual(want);
});
