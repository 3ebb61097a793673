// Distributions of scores as the web app counts them.

import { describe, expect, test } from "vitest";
import { countBooleans, countFew, toBins } from "../../../src/web/app/pages/experiments/bins.ts";

describe("toBins", () => {
  test.each([
    { name: "no value has no bin", values: [], want: [] },
    // A bar at the left of several bins would read as the least of some range.
    { name: "equal values are one bin", values: [1, 1, 1], want: [3] },
    {
      name: "the greatest value is in the last bin",
      values: [0, 1, 12],
      want: [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    },
  ])("$name", ({ values, want }) => {
    expect(toBins(values)).toEqual(want);
  });
});

describe("countFew", () => {
  test.each([
    {
      name: "ratings stand in their order",
      values: [2, 5, 2],
      want: [
        ["5", 1],
        ["2", 2],
      ],
    },
    { name: "decimals have bins", values: [0.1, 0.2], want: undefined },
    { name: "more than five values have bins", values: [1, 2, 3, 4, 5, 6], want: undefined },
    { name: "one value needs no bar", values: [1, 1], want: undefined },
  ])("$name", ({ values, want }) => {
    expect(countFew(values)).toEqual(want);
  });
});

describe("countBooleans", () => {
  test.each([
    {
      name: "both are counted",
      values: [1, 0, 1],
      want: [
        ["true", 2],
        ["false", 1],
      ],
    },
    { name: "the only one stands alone", values: [0, 0], want: [["false", 2]] },
    { name: "without values there is none", values: [], want: [] },
  ])("$name", ({ values, want }) => {
    expect(countBooleans(values)).toEqual(want);
  });
});
