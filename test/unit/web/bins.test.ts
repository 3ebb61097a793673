// Distributions of scores as the web app counts them.

import { describe, expect, test } from "vitest";
import { toBins } from "../../../src/web/app/pages/experiments/bins.ts";

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
