// What a comparison of two runs says in words.

import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { RunMetricComparisonSchema } from "../../../gen/waggle/v1/run_pb.js";
import { formatDifference } from "../../../src/web/app/pages/experiments/score.ts";

test.each([
  [0.25, 0.125, 0.375, "better by 0.25, 95 % CI 0.125 to 0.375, paired t-test, n = 40"],
  [-0.25, -0.375, -0.125, "worse by 0.25, 95 % CI 0.125 to 0.375, paired t-test, n = 40"],
  [0.5, 0.5, 0.5, "better by 0.5, 95 % CI 0.5 to 0.5, paired t-test, n = 40"],
  [0, 0, 0, "the same on average, 95 % CI 0 to 0, paired t-test, n = 40"],
  // The differences of 40 scores cancel each other out.
  [4.16e-18, -0.15, 0.15, "the same on average, 95 % CI -0.15 to 0.15, paired t-test, n = 40"],
])("a mean difference of %d from %d to %d is %s", (meanDifference, lower, upper, want) => {
  const pairedTest = { meanDifference, lower, upper, confidenceLevel: 0.95, test: "paired t-test" };

  const got = formatDifference(
    create(RunMetricComparisonSchema, { better: "greater", pairedTest: { ...pairedTest, n: 40 } }),
  );

  expect(got).toBe(want);
});
