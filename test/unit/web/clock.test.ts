// The time of the service, where the browser's clock is wrong.

import { afterEach, expect, test, vi } from "vitest";
import { noteServiceTime, serviceNow } from "../../../src/web/app/api/clock.ts";

const clockMs = Date.parse("2026-11-30T12:00:00Z");
const atService = (differenceMs: number): string => new Date(clockMs + differenceMs).toUTCString();

afterEach(() => {
  vi.useRealTimers();
  noteServiceTime(new Date().toUTCString());
});

test.each([
  { name: "hours ahead of the service", date: atService(-7_200_000), want: -7_200_000 },
  { name: "a minute behind the service", date: atService(60_000), want: 60_000 },
  { name: "right but for the way of the answer", date: atService(-3_000), want: 0 },
  { name: "of a service behind a proxy without a date", date: null, want: 0 },
  { name: "of a service behind a proxy with no date", date: "soon", want: 0 },
])("is that of the last answer where the clock is $name", ({ date, want }) => {
  vi.useFakeTimers({ now: clockMs });

  noteServiceTime(date);

  expect(serviceNow() - clockMs).toBe(want);
});

test("is the clock's again once the clock is right", () => {
  vi.useFakeTimers({ now: clockMs });
  noteServiceTime(atService(7_200_000));

  noteServiceTime(atService(0));

  expect(serviceNow()).toBe(clockMs);
});
