// The pauses between a crash of the service and its next start.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { choosePauseMs } from "../../../src/commands/supervisor.ts";

const bounds = { firstMs: 500, longestMs: 30_000 };

describe("choosePauseMs", () => {
  test.each([
    { crashes: 1, want: 500 },
    { crashes: 2, want: 1_000 },
    { crashes: 6, want: 16_000 },
    { crashes: 7, want: 30_000 },
    { crashes: 5_000, want: 30_000 },
  ])("is at most $want ms after crash $crashes", ({ crashes, want }) => {
    expect(choosePauseMs(crashes, bounds, () => 1)).toBe(want);
  });

  test("takes at least half of its bound, wherever chance puts it", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.double({ min: 0, max: 1 }), (n, random) => {
        const bound = choosePauseMs(n, bounds, () => 1);
        const got = choosePauseMs(n, bounds, () => (Number.isNaN(random) ? 0 : random));
        expect(got).toBeGreaterThanOrEqual(bound / 2);
        expect(got).toBeLessThanOrEqual(bound);
      }),
    );
  });
});
