// Sampling by event id: within bounds, the same at any time, and more when raised.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import { isSampled, samplingNumber } from "../../src/evaluation/online/sampling.ts";

describe("isSampled", () => {
  // Four standard deviations of a fair draw of 100,000, which fails 1 time in 15,000 at random; the
  // ids below are made from numbers, so the draw is always the same.
  test.each([0.1, 1, 10, 25, 50, 90, 99.9])("takes %s percent of 100,000 ids", (percentage) => {
    const ids = Array.from({ length: 100_000 }, (_, index) => `event-${index}`);
    const share = percentage / 100;
    const deviation = Math.sqrt(ids.length * share * (1 - share));

    const taken = ids.filter((id) => isSampled(id, percentage)).length;

    expect(Math.abs(taken - ids.length * share)).toBeLessThan(4 * deviation);
  });

  test("takes all at 100 and none at 0", () => {
    const ids = Array.from({ length: 1_000 }, () => createUuid());

    expect(ids.every((id) => isSampled(id, 100))).toBe(true);
    expect(ids.some((id) => isSampled(id, 0))).toBe(false);
  });

  test("takes at a raised percentage what it took before", () => {
    fc.assert(
      fc.property(fc.string(), fc.double({ min: 0, max: 100, noNaN: true }), (id, percentage) => {
        const raised = percentage + (100 - percentage) / 2;
        expect(isSampled(id, percentage) && !isSampled(id, raised)).toBe(false);
      }),
    );
  });
});

test("an event's number never changes", () => {
  // Written down: another number would score other events after an update of the service.
  expect(samplingNumber("event-1")).toBeCloseTo(80.5519, 3);
});
