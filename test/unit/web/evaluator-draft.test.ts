// What the form of an evaluator sends of a changed one.

import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { MetricSchema } from "../../../gen/waggle/v1/metric_pb.js";
import { fromMetric, toChanges, toMetric } from "../../../src/web/app/pages/evaluators/draft.ts";

const aMetric = {
  name: "quality",
  type: "PYTHON",
  criteria: "result = 1",
  samplingPercentage: 10,
  returnType: "float",
  enabledInProd: true,
};
const pass = (value: number) => ({ kind: { case: "numberValue", value } }) as const;

describe("toChanges", () => {
  test("has the changed fields alone, so that another person's change of others stays", () => {
    const first = fromMetric(create(MetricSchema, aMetric));

    expect(toChanges(first, { ...first, description: "new" })).toEqual({ description: "new" });
    expect(toChanges(first, { ...first, least: "2" })).toEqual({ threshold: { min: 2 } });
  });

  test("keeps texts that pass, which the form does not show", () => {
    const threshold = { passingCategories: ["yes"] };
    const metric = create(MetricSchema, { ...aMetric, returnType: "string", threshold });
    const first = fromMetric(metric);

    expect(toChanges(first, { ...first, sampling: "20" })).toEqual({ samplingPercentage: 20 });
  });

  test("says anew what passes where another type is returned", () => {
    const threshold = { passWhen: pass(0.5) };
    const first = fromMetric(create(MetricSchema, { ...aMetric, threshold }));

    const changes = toChanges(first, { ...first, returnType: "boolean", passWhen: "" });

    expect(changes).toEqual({ returnType: "boolean", threshold: {}, categories: [] });
  });
});

describe("toMetric", () => {
  test("keeps a number that passes alone beside changed bounds", () => {
    const threshold = { min: 0, passWhen: pass(0.5) };
    const first = fromMetric(create(MetricSchema, { ...aMetric, threshold }));

    const { threshold: got } = toMetric({ ...first, least: "0.25" });

    expect(got).toEqual({ min: 0.25, passWhen: pass(0.5) });
  });
});
