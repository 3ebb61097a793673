// Values as text.

import { expect, test } from "vitest";
import {
  formatActor,
  formatAge,
  formatDuration,
  formatExactCost,
  formatExactDuration,
  formatId,
  formatScore,
  formatTime,
  formatValue,
} from "../../../src/web/app/design/format.ts";

test("a time has the 24 hours of the axes", () => {
  const got = formatTime(new Date(2026, 10, 27, 17, 5, 9).getTime());

  expect(got).toMatch(/\b17:05:09\b/);
  expect(got).not.toContain("PM");
});

test.each([
  [999.4, "999 ms"],
  [999.7, "1.00 s"],
  [9_999, "10.0 s"],
  [59_949, "59.9 s"],
  [59_960, "1 m 00 s"],
  [0, "0 ms"],
  [0.5, "0.50 ms"],
  [0.0042, "0.004 ms"],
  [-0.5, "-0.50 ms"],
  [-5_000, "-5.00 s"],
  [-7_500_000, "-2 h 05 m"],
])("a duration of %d milliseconds is %s", (ms, want) => {
  expect(formatDuration(ms)).toBe(want);
});

test.each([
  [-5_000, "-5.00 s"],
  [-5_001, "-5,001 ms"],
  [0.1 + 0.2, "0.3 ms"],
])("a duration of %d milliseconds is exactly %s", (ms, want) => {
  expect(formatExactDuration(ms)).toBe(want);
});

test.each([
  [0.1 + 0.2, "$0.30"],
  [12.4, "$12.40"],
  [0.0000004, "$0.0000004"],
  [-1.5, "-$1.50"],
])("a cost of %d dollars is exactly %s", (usd, want) => {
  expect(formatExactCost(usd)).toBe(want);
});

test.each([
  [9_000, "now"],
  [59_900, "59s ago"],
  [-30_000, "in 30s"],
  [-90_000, "in 1m"],
  [3 * 3_600_000, "3h ago"],
])("a time %d milliseconds ago is %s", (ageMs, want) => {
  expect(formatAge(1_764_000_000_000 - ageMs, 1_764_000_000_000)).toBe(want);
});

test.each([
  [0.123456, "0.123"],
  [-12.345, "-12.3"],
  [99.96, "100"],
  [1_234, "1234"],
  [-1_234.5, "-1235"],
  [1e300, "1e+300"],
  [null, "–"],
])("the score %j is written %j", (score, want) => {
  expect(formatScore(score)).toBe(want);
});

test.each([
  ["a text", "a text"],
  [{ a: [1] }, '{\n  "a": [\n    1\n  ]\n}'],
  [false, "false"],
  [null, ""],
  [undefined, ""],
])("the value %j is written %j", (value, want) => {
  expect(formatValue(value)).toBe(want);
});

test("ids that are made together differ as they are shown", () => {
  const ids = ["01a22f82-f17e-7aa2-819e-a01e6382b336", "01a22f82-f1f8-79e3-9ade-682bde07a2bd"];

  expect(ids.map(formatId)).toEqual(["01a22f82…b336", "01a22f82…a2bd"]);
  expect(formatId("s-1")).toBe("s-1");
});

test.each([
  ["key deploy (web) (01a22f82-f17e-7aa2-819e-a01e6382b336)", "key deploy (web)"],
  ["ada@example.com", "ada@example.com"],
  ["first start", "first start"],
])("who did it, %s, is shown as %s", (actor, want) => {
  expect(formatActor(actor)).toBe(want);
});
