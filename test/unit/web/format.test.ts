// Values as text.

import { expect, test } from "vitest";
import { formatDuration, formatTime } from "../../../src/web/app/design/format.ts";

test("a time has the 24 hours of the axes", () => {
  const got = formatTime(new Date(2026, 10, 27, 17, 5, 9).getTime());

  expect(got).toMatch(/\b17:05:09\b/);
  expect(got).not.toContain("PM");
});

test.each([
  [999.4, "999 ms"],
  [999.7, "1.00 s"],
])("a duration of %d milliseconds is %s", (ms, want) => {
  expect(formatDuration(ms)).toBe(want);
});
