// How pages of alerts write the values that checks saw.

import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import {
  AlertSchema,
  AlertThresholdSchema,
  AlertValueSchema,
} from "../../../gen/waggle/v1/alert_pb.js";
import {
  describeCondition,
  describeThreshold,
} from "../../../src/web/app/pages/alerts/alert-words.ts";
import {
  describeValue,
  formatOfAlert,
  formatOfThreshold,
  noteOf,
} from "../../../src/web/app/pages/alerts/alert-values.ts";

test.each([
  { projection: "event_count", aggregation: "COUNT", want: "10 before, 25 now" },
  { projection: "cost", aggregation: "SUM", want: "$10.00 before, $25.00 now" },
  { projection: "duration", aggregation: "P95", want: "10 ms before, 25 ms now" },
])("a change of $projection names both values in their unit", (row) => {
  const { projection, aggregation, want } = row;
  const alert = create(AlertSchema, { alertType: "DRIFT", aggregation, projections: [projection] });
  const value = create(AlertValueSchema, { projection, value: 150, baseline: 10, current: 25 });

  expect(formatOfAlert(alert, projection)(150)).toBe("150.0 %");
  expect(noteOf(alert, [value])).toBe(want);
});

test("each measure of an alert has its own unit", () => {
  const projections = ["duration", "cost"];
  const alert = create(AlertSchema, { alertType: "AGGREGATE", aggregation: "SUM", projections });

  expect(projections.map((projection) => formatOfAlert(alert, projection)(25))).toEqual([
    "25 ms",
    "$25.00",
  ]);
});

test.each([
  { alertType: "AGGREGATE", projection: "cost", threshold: 0.00005, want: "$0.00005" },
  { alertType: "PER_EVENT", projection: "cost", threshold: 12.4, want: "$12.40" },
  { alertType: "DRIFT", projection: "cost", threshold: 0.04, want: "0.04 %" },
  { alertType: "AGGREGATE", projection: "duration", threshold: 2_000, want: "2.00 s" },
  { alertType: "AGGREGATE", projection: "duration", threshold: 2_345, want: "2,345 ms" },
  { alertType: "PER_EVENT", projection: "duration", threshold: 90_500, want: "90,500 ms" },
  { alertType: "AGGREGATE", projection: "total_tokens", threshold: 150_250, want: "150,250" },
  { alertType: "PER_EVENT", projection: "error_rate", threshold: 0.0125, want: "1.25 %" },
])("the threshold $threshold of $alertType is written as $want", (row) => {
  const { alertType, projection, threshold, want } = row;
  const alert = create(AlertSchema, { alertType, aggregation: "SUM", projections: [projection] });

  expect(formatOfThreshold(alert)(threshold)).toBe(want);
});

test.each([
  {
    projections: ["duration", "cost"],
    condition: "p95 duration > 2.00 s or p95 cost > $2,000.00, hourly",
    threshold: "p95 duration > 2.00 s, p95 cost > $2,000.00",
  },
  {
    projections: ["prompt_tokens", "completion_tokens"],
    condition: "p95 prompt tokens or p95 completion tokens > 2,000, hourly",
    threshold: "> 2,000",
  },
])("the threshold of $projections has the unit of each", (row) => {
  const { projections, condition, threshold } = row;
  const fields = { alertType: "AGGREGATE", aggregation: "P95", frequency: "HOURLY", projections };
  const alert = create(AlertSchema, fields);
  const critical = create(AlertThresholdSchema, { operator: "greater_than", value: 2_000 });

  expect(describeCondition(alert, critical)).toBe(condition);
  expect(describeThreshold(alert, critical)).toBe(threshold);
});

test("the value of single events is how many of them met the condition", () => {
  const projections = ["duration"];
  const alert = create(AlertSchema, { alertType: "PER_EVENT", aggregation: "P95", projections });

  expect(describeValue(alert, 21)).toBe("21 events");
  expect(describeValue({ ...alert, alertType: "AGGREGATE" }, 21)).toBe("21 ms");
});
