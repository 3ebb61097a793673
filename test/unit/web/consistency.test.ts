// How far an evaluator agrees with itself: what two runs on each event come to.

import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { RunMetricResponseSchema } from "../../../gen/waggle/v1/evaluator_pb.js";
import { consistencyOf } from "../../../src/web/app/pages/evaluators/consistency.ts";

const scored = (score: number, more: { passed?: boolean; cost?: number } = {}) => ({
  answer: create(RunMetricResponseSchema, {
    success: true,
    result: { kind: { case: "numberValue", value: score } },
    judge: more.cost === undefined ? {} : { cost: more.cost },
    ...(more.passed !== undefined && { passed: more.passed }),
  }),
});
const named = (score: string) => ({
  answer: create(RunMetricResponseSchema, {
    success: true,
    result: { kind: { case: "stringValue", value: score } },
  }),
});
const failed = { error: new Error("away") };
const withoutTruth = { answer: create(RunMetricResponseSchema, { success: false }) };

describe("consistencyOf", () => {
  test("counts equal scores, flips and differences", () => {
    const found = consistencyOf([
      [scored(4, { passed: true }), scored(4, { passed: true })],
      [scored(5, { passed: true }), scored(2, { passed: false })],
    ]);

    expect(found).toMatchObject({ compared: 2, same: 1, flips: 1, difference: 1.5, unscored: 0 });
  });

  test("compares names without a difference, and knows no flips without a threshold", () => {
    const found = consistencyOf([[named("good"), named("bad")]]);

    expect(found).toEqual({ compared: 1, same: 0, unscored: 0, cost: 0 });
  });

  test("leaves out events of which a run has no score or has not ended", () => {
    const found = consistencyOf([
      [scored(1), failed],
      [withoutTruth, withoutTruth],
      [scored(1), {}],
      [undefined, undefined],
    ]);

    expect(found).toMatchObject({ compared: 0, unscored: 2 });
  });

  test("sums the costs that are known, those of unscored events too", () => {
    const found = consistencyOf([
      [scored(1, { cost: 0.25 }), scored(1)],
      [scored(1, { cost: 0.5 }), failed],
    ]);

    expect(found.cost).toBe(0.75);
  });
});
