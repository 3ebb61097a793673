// What the form of an alert sends, also of a stored one.

import { askedOf } from "../../../src/web/app/pages/alerts/preview-question.ts";
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { AlertSchema } from "../../../gen/waggle/v1/alert_pb.js";
import {
  draftDefault,
  fromAlert,
  meetingFilters,
  thresholdsOf,
  withMeasure,
} from "../../../src/web/app/pages/alerts/draft.ts";

const stored = fromAlert(
  create(AlertSchema, {
    thresholds: {
      critical: { operator: "greater_than", value: 10 },
      resolved: { operator: "less_than_or_equal", value: 10 },
    },
  }),
);

test("the operator that resolves a stored alert stays, which the form does not show", () => {
  expect(thresholdsOf({ ...stored, name: "renamed" }).resolved).toEqual({
    operator: "less_than_or_equal",
    value: 10,
  });
});

test("it turns with the operator that triggers", () => {
  expect(thresholdsOf({ ...stored, operator: "less_than" }).resolved).toEqual({
    operator: "greater_than",
    value: 10,
  });
});

test("the error rate is averaged unless another aggregation is picked after it", () => {
  expect({ ...draftDefault, ...withMeasure("error_rate") }.aggregation).toBe("AVERAGE");
  expect({ ...draftDefault, ...withMeasure("duration") }.aggregation).toBe("P95");
});

const hasError = { field: "error", operator: "exists" };
const hasNone = { field: "error", operator: "not exists" };

test.each([
  { operator: "greater_than", value: "0", want: [hasError] },
  { operator: "greater_than_or_equal", value: "1", want: [hasError] },
  { operator: "less_than", value: "0.5", want: [hasNone] },
  { operator: "less_than_or_equal", value: "1", want: [] },
  { operator: "greater_than", value: "1", want: [hasError, hasNone] },
])("the preview asks for the events whose error rate is $operator $value", (row) => {
  const { operator, value, want } = row;
  const draft = { ...draftDefault, alertType: "PER_EVENT", projection: "error_rate" };

  expect(meetingFilters({ ...draft, operator, value })).toEqual(want);
});

test.each([
  { alertType: "PER_EVENT", measure: { metric: "event_count" }, meeting: [hasError] },
  { alertType: "AGGREGATE", measure: { metric: "error_rate", aggregation: "avg" }, meeting: [] },
])("the preview of $alertType counts all events that match, as checks do", (row) => {
  const rate = { ...draftDefault, ...withMeasure("error_rate"), operator: "greater_than" };
  const asked = askedOf({ ...rate, value: "0", alertType: row.alertType });

  expect(asked.measures).toEqual([row.measure, { metric: "event_count" }]);
  expect(asked.countedFilters).not.toContainEqual(hasError);
  expect(asked.filters).toEqual([...asked.countedFilters, ...row.meeting]);
});
