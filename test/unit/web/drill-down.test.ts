// Which events a point of a chart leads to.

import { expect, test } from "vitest";
import type { Answer } from "../../../src/web/app/pages/charts/answer.ts";
import { eventsOf } from "../../../src/web/app/pages/charts/drill-down.ts";

const question = {
  kind: "time_series",
  measures: [{ metric: "event_count" }],
  splitBy: "metadata.team",
  filters: [{ field: "event_type", operator: "is", value: "tool" }],
} as const;

const answerOf = (splits: readonly (string | null)[]): Answer => ({
  kind: "time_series",
  measures: question.measures,
  buckets: [],
  series: [
    ...splits.map((split) => ({ label: "", measure: 0, split, isOther: false, values: [] })),
    { label: "other", measure: 0, split: undefined, isOther: true, values: [] },
  ],
  matched: 0,
  isExact: true,
  splitCount: 0,
  unit: undefined,
  warnings: [],
  fromMs: 0,
  toMs: 1,
});

const isNotRed = { field: "metadata.team", operator: "is not", value: "red" };

test.each([
  { name: "with the events without a value", splits: ["red"], want: [isNotRed] },
  {
    name: "without them where they have a series of their own",
    splits: ["red", null],
    want: [isNotRed, { field: "metadata.team", operator: "exists" }],
  },
])("the others lead to the events of no other series, $name", ({ splits, want }) => {
  const { filters } = eventsOf({ question, answer: answerOf(splits), isOther: true });

  expect(filters.slice(1)).toEqual(want);
});
