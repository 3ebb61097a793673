// Answers of charts as pages read them.

import { create, fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { ChartResultSchema } from "../../../gen/waggle/v1/chart_pb.js";
import { formatOf, toAnswer, toCsv } from "../../../src/web/app/pages/charts/answer.ts";
import { measureName } from "../../../src/web/app/pages/charts/question.ts";

test.each([true, false])(
  "a last bucket that reads `other` is that of the others if the answer says so (%s)",
  (hasOtherBucket) => {
    const buckets = ["a", "other"].map((text) => fromJson(ValueSchema, text));
    const data = { buckets, hasOtherBucket };
    const meta = { splitCount: hasOtherBucket ? 3 : 2 };

    const answer = toAnswer(create(ChartResultSchema, { kind: "table", data, meta }), true);

    expect(answer.buckets).toMatchObject([{ isOther: false }, { isOther: hasOtherBucket }]);
  },
);

test.each([
  { metric: "metadata.length", value: 123_456, want: "123,456" },
  { metric: "metadata.length", value: 12_345.6, want: "12,346" },
  { metric: "metadata.length", value: 0.0123456, want: "0.01235" },
  { metric: "error_rate", value: 0.0004, want: "0.04 %" },
  { metric: "error_rate", value: 0.12345, want: "12.3 %" },
  { metric: "error_rate", value: 1, want: "100 %" },
])("$value of $metric is written $want", ({ metric, value, want }) => {
  expect(formatOf({ metric })(value)).toBe(want);
});

test.each([
  { aggregation: undefined, value: 0.05, want: "error rate: 5 %" },
  { aggregation: "avg", value: 0.05, want: "error rate: 5 %" },
  { aggregation: "p95", value: 1, want: "p95 error rate: 100 %" },
  { aggregation: "sum", value: 5, want: "sum error rate: 5" },
])("the $aggregation of the error rate reads $want", ({ aggregation, value, want }) => {
  const measure = { metric: "error_rate", aggregation };

  expect(`${measureName(measure)}: ${formatOf(measure)(value)}`).toBe(want);
});

test("numbers of CSV are without the noise of sums, and texts are no formulas", () => {
  const buckets = ["gpt", "=1+1", "-5"].map((text) => fromJson(ValueSchema, text));
  const values = [0.1 + 0.2, 1_234_567_890.123, 0.000_05].map((one) => fromJson(ValueSchema, one));
  const result = create(ChartResultSchema, {
    kind: "table",
    data: { buckets, series: [{ measure: "m1", values }] },
    measures: [{ id: "m1", metric: "cost", aggregation: "sum" }],
  });
  const answer = toAnswer(result, true);

  const [, ...rows] = toCsv(answer).split("\r\n");

  expect(rows).toEqual(["gpt,0.3", "'=1+1,1234567890.12", "-5,0.00005"]);
});

test("the numbers of a histogram are events, not values of its measure", () => {
  const bucket = fromJson(ValueSchema, { from: 0, to: 250 });
  const result = create(ChartResultSchema, {
    kind: "histogram",
    data: { buckets: [bucket], series: [{ measure: "m1", values: [fromJson(ValueSchema, 7)] }] },
    measures: [{ id: "m1", metric: "duration", aggregation: "avg" }],
  });

  expect(toCsv(toAnswer(result, false))).toBe("from,to,events\r\n0,250,7");
});
