// The time axis of a session: places of times, and shortened times in which nothing ran.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../../../src/web/app/pages/session/session-event.ts";
import { createTimeAxis } from "../../../src/web/app/pages/session/time-axis.ts";
import { anEvent, anyEvents, aSession } from "./session-events.ts";

const ran = (startMs: number, endMs: number): SessionEvent =>
  anEvent({ id: `${startMs}-${endMs}`, startMs, endMs });

describe("createTimeAxis", () => {
  test("places times by their distance where something always ran", () => {
    const { placeOf, gaps } = createTimeAxis([ran(1_000, 1_600), ran(1_500, 2_000)]);

    expect(gaps).toEqual([]);
    expect([1_000, 1_250, 2_000].map(placeOf)).toEqual([0, 0.25, 1]);
  });

  test("shortens a night between two questions, and says how long it was", () => {
    const night = 8 * 3_600_000;

    const { placeOf, gaps } = createTimeAxis([ran(0, 1_000), ran(night, night + 3_000)]);

    expect(gaps).toHaveLength(1);
    expect(gaps[0]?.durationMs).toBe(night - 1_000);
    expect((gaps[0]?.to ?? 0) - (gaps[0]?.from ?? 0)).toBeCloseTo(0.03);
    // One second of four, and three of four, share what the night leaves.
    expect(placeOf(1_000)).toBeCloseTo(0.97 / 4);
    expect(1 - placeOf(night)).toBeCloseTo((0.97 * 3) / 4);
  });

  test("does not count the session itself as something that ran", () => {
    const { gaps } = createTimeAxis([aSession(0, 10_000), ran(0, 1_000), ran(9_000, 10_000)]);

    expect(gaps.map(({ durationMs }) => durationMs)).toEqual([8_000]);
  });

  test("is as long as a session that outlasts its steps, at both ends", () => {
    const { startMs, endMs, placeOf, gaps } = createTimeAxis([
      aSession(0, 10_000),
      ran(1_000, 9_000),
    ]);

    expect([startMs, endMs, gaps.length]).toEqual([0, 10_000, 0]);
    expect([1_000, 9_000].map(placeOf)).toEqual([0.1, 0.9]);
  });

  test("spreads events without a length over the time between them", () => {
    const { placeOf, gaps } = createTimeAxis([ran(0, 0), ran(250, 250), ran(1_000, 1_000)]);

    expect(gaps).toEqual([]);
    expect([0, 250, 1_000].map(placeOf)).toEqual([0, 0.25, 1]);
  });

  test("has a place for times outside of it, and for an axis of one instant", () => {
    const axis = createTimeAxis([ran(100, 200)]);
    const instant = createTimeAxis([ran(5, 5)]);

    expect([0, 300].map(axis.placeOf)).toEqual([0, 1]);
    expect(instant.placeOf(5)).toBe(0);
    expect(instant.placeOf(6)).toBe(1);
  });

  test("never runs backwards, and stays within its ends, for any events", () => {
    fc.assert(
      fc.property(anyEvents, fc.array(fc.integer({ min: -100, max: 1_600 })), (events, others) => {
        const { placeOf, gaps } = createTimeAxis(events);
        const times = events.flatMap(({ startMs, endMs }) => [startMs, endMs]);
        const sorted = [...times, ...others].toSorted((a, b) => a - b);

        const places = sorted.map(placeOf);

        expect(places).toEqual(places.toSorted((a, b) => a - b));
        expect(places.every((place) => place >= 0 && place <= 1)).toBe(true);
        for (const { from, to } of gaps) {
          expect(times.map(placeOf).some((place) => place > from + 1e-9 && place < to - 1e-9)).toBe(
            false,
          );
        }
      }),
    );
  });
});
