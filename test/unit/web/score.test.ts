// What a comparison of two runs says in words.

import { create, fromJson } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { RunDatapointSchema, RunMetricComparisonSchema } from "../../../gen/waggle/v1/run_pb.js";
import { booleansOf, formatDifference } from "../../../src/web/app/pages/experiments/score.ts";

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

test("a metric is one of booleans if every score of a run is", () => {
  const datapoint = (metrics: Readonly<Record<string, boolean | number | null>>) =>
    fromJson(RunDatapointSchema, {
      metrics: Object.entries(metrics).map(([name, value]) => ({
        name,
        value,
        eventName: "answer",
        eventType: "model",
      })),
    });

  const isBoolean = booleansOf([
    datapoint({ grounded: true, rating: 1, mixed: true, failed: null }),
    datapoint({ grounded: false, rating: 0, mixed: 1, failed: null }),
    datapoint({ grounded: null, rating: 1, mixed: true }),
  ]);

  const got = ["grounded", "rating", "mixed", "failed"].filter((metricName) =>
    isBoolean({ metricName, eventName: "answer", eventType: "model" }),
  );
  expect(got).toEqual(["grounded"]);
});
