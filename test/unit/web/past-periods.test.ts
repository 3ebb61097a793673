// Periods that the preview of an alert counts: whole ones, as the checks of the alert have them.

import { expect, test } from "vitest";
import {
  changesOf,
  fewestOf,
  pastPeriods,
} from "../../../src/web/app/pages/alerts/past-periods.ts";
import { frequencies, isEnd, periodTo } from "../../../src/tracing/alerts/periods.ts";

const counts = { HOURLY: 72, DAILY: 30, WEEKLY: 12, MONTHLY: 12 } as const;

const times = ["2026-11-29T21:41:43.250Z", "2026-03-01T00:00:00Z", "2024-02-29T23:59:59.999Z"];

test.each(times.flatMap((at) => frequencies.map((frequency) => ({ at, frequency }))))(
  "at $at $frequency periods are whole and have ended",
  ({ at, frequency }) => {
    const nowMs = Date.parse(at);

    const { from, to } = pastPeriods(frequency, nowMs);

    expect(isEnd(frequency, to + 1)).toBe(true);
    expect(to).toBeLessThan(nowMs);
    let startMs = to + 1;
    for (let at = 0; at < counts[frequency]; at += 1) {
      startMs = periodTo(frequency, startMs).startMs;
    }
    expect(from).toBe(startMs);
  },
);

test("a change is in percent, none from 0 to 0, and no number from 0 to anything else", () => {
  expect(changesOf([10, 25, 25, 0, 0, 5, null, 4])).toEqual([
    null,
    150,
    0,
    -100,
    0,
    null,
    null,
    null,
  ]);
});

test("a change has as many events as the period with fewer", () => {
  expect(fewestOf([3, 40, 41, null])).toEqual([0, 3, 40, 0]);
});
