// Parts of charts from summaries: percentiles by selection, and how a range is cut.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { percentile } from "../../../src/tracing/charts/summaries/percentile.ts";
import { percentileOfRuns } from "../../../src/tracing/charts/summaries/runs.ts";
import { cutRange } from "../../../src/tracing/charts/summaries/stretches.ts";

const hourMs = 3_600_000;

/** Interpolates between the places of sorted numbers. */
function reference(values: readonly number[], part: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * part;
  const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  if (low === undefined || high === undefined) return null;
  return low + (high - low) * (place - Math.floor(place));
}

describe("percentile", () => {
  test("is that of sorted numbers", () => {
    const few = fc.integer({ min: 0, max: 5 });
    const numbers = fc.array(fc.oneof(few, fc.double({ min: 1e-9, max: 1e6, noNaN: true })));
    fc.assert(
      fc.property(numbers, fc.double({ min: 0, max: 1, noNaN: true }), (values, part) => {
        expect(percentile(Float64Array.from(values), part)).toEqual(reference(values, part));
      }),
    );
  });

  test.each([
    { name: "rising", numberAt: (at: number) => at },
    { name: "falling", numberAt: (at: number) => 9_999 - at },
    { name: "equal", numberAt: () => 7 },
    { name: "rising and falling", numberAt: (at: number) => Math.min(at, 10_000 - at) },
    { name: "scattered", numberAt: (at: number) => (at * 7_919) % 10_007 },
  ])("of many $name numbers is that of sorted ones", ({ numberAt }) => {
    const values = Array.from({ length: 10_000 }, (_, at) => numberAt(at));

    for (const part of [0, 0.5, 0.95, 0.99, 1]) {
      expect(percentile(Float64Array.from(values), part)).toEqual(reference(values, part));
    }
  });
});

describe("percentileOfRuns", () => {
  const toRun = (numbers: readonly number[]) => {
    const sorted = Float64Array.from(numbers).sort();
    return { numbers: sorted, from: 0, to: sorted.length };
  };

  test("is that of all numbers together", () => {
    const few = fc.integer({ min: 0, max: 5 });
    const numbers = fc.array(fc.oneof(few, fc.double({ min: 1e-9, max: 1e6, noNaN: true })), {
      maxLength: 60,
    });
    const part = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.array(numbers, { maxLength: 12 }), part, (lists, at) => {
        expect(percentileOfRuns(lists.map(toRun), at)).toEqual(reference(lists.flat(), at));
      }),
    );
  });

  test.each([
    { name: "alike", numberAt: (run: number, at: number) => ((at * 7_919) % 1_009) + run / 50 },
    { name: "one after another", numberAt: (run: number, at: number) => run * 1_000 + at },
    { name: "equal", numberAt: () => 7 },
    { name: "far apart", numberAt: (run: number, at: number) => 2 ** run + at / 1_000 },
    { name: "of other sizes", numberAt: (run: number, at: number) => (at < 10 ** run ? at : run) },
  ])("of runs that are $name is that of all numbers", ({ numberAt }) => {
    const lists = Array.from({ length: 40 }, (_, run) =>
      Array.from({ length: 300 }, (__, at) => numberAt(run, at)),
    );

    for (const part of [0, 0.5, 0.75, 0.95, 0.99, 1]) {
      expect(percentileOfRuns(lists.map(toRun), part)).toEqual(reference(lists.flat(), part));
    }
  });
});

describe("cutRange", () => {
  const now = Date.parse("2026-01-01T00:30:00Z");

  test("keeps whole hours that ended two hours ago, and joins the hours after them", () => {
    const [from, to] = [now - 5 * hourMs, now];

    const got = cutRange({ fromMs: from, toMs: to }, [0], now);

    const hour = Math.floor(now / hourMs);
    expect(got?.map((one) => one.hour)).toEqual([hour - 5, hour - 4, hour - 3, null]);
    expect(got?.map(({ isWhole }) => isWhole)).toEqual([false, true, true, false]);
    expect(got?.map(({ fromUs, toUs }) => (toUs - fromUs) / 1_000 / hourMs)).toEqual([
      0.5, 1, 1, 2.5,
    ]);
  });

  test("cuts where a bucket starts, and keeps no hour that lies in two buckets", () => {
    const starts = [0, 24, 48].map((hours) => now - 96 * hourMs + hours * hourMs + hourMs / 4);
    const range = { fromMs: starts[0] ?? 0, toMs: now - 24 * hourMs };

    const got = cutRange(range, starts, now) ?? [];

    expect(got.every(({ fromUs }, at) => at === 0 || fromUs === got[at - 1]?.toUs)).toBe(true);
    expect(got[0]?.fromUs).toBe(range.fromMs * 1_000);
    expect(got.at(-1)?.toUs).toBe(range.toMs * 1_000);
    for (const { bucket, fromUs, toUs, hour, isWhole } of got) {
      expect(fromUs / 1_000).toBeGreaterThanOrEqual(starts[bucket] ?? 0);
      expect(toUs / 1_000).toBeLessThanOrEqual(starts[bucket + 1] ?? Infinity);
      const times = [hour ?? 0, (hour ?? 0) + 1].map((hours) => hours * 3.6e9);
      expect(fromUs).toBeGreaterThanOrEqual(times[0] ?? 0);
      expect(toUs).toBeLessThanOrEqual(times[1] ?? 0);
      expect(isWhole).toBe(toUs - fromUs === 3.6e9);
    }
    expect(got.filter(({ isWhole }) => !isWhole)).not.toHaveLength(0);
  });

  test("refuses a range of too many hours", () => {
    expect(cutRange({ fromMs: 0, toMs: now }, [0], now)).toBeUndefined();
  });
});
