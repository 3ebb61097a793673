// What the form of an alert sends, also of a stored one.

import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { AlertSchema } from "../../../gen/waggle/v1/alert_pb.js";
import {
  draftDefault,
  fromAlert,
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
