// Ids: new ones are UUIDs in the order of their creation.

import { afterEach, expect, test, vi } from "vitest";
import { createUuid } from "../../../src/base/ids.ts";

afterEach(() => {
  vi.useRealTimers();
});

test("new ids of one millisecond are in the order of their creation", () => {
  vi.useFakeTimers({ now: 2_000_000_000_000, toFake: ["Date"] });

  const ids = Array.from({ length: 10_000 }, createUuid);

  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids[0]).toMatch(/^01d1a94a-20..-7...-[89ab]/);
});

test("new ids follow a clock that is set back", () => {
  vi.useFakeTimers({ now: 2_000_000_000_000, toFake: ["Date"] });
  createUuid();
  vi.setSystemTime(1_900_000_000_000);

  expect(createUuid()).toMatch(/^01ba60d3-3800-7/);
});
