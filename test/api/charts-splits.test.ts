// Values of a split that look alike: one that reads `other`, and long ones with one beginning.
// Source: docs/charts.md, `split_by` and `split_ranking`.

import { expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

const startMs = Date.parse("2025-03-01T00:00:00Z");
const hourMs = 3_600_000;

/** Stores an event for each value of `metadata.user`. */
async function give(project: MetricProject, ...users: readonly string[]): Promise<void> {
  const events = users.map((user) => ({
    event_type: "tool",
    event_name: "step",
    source: "test",
    inputs: {},
    metadata: { user },
    start_time: startMs + 1_000,
  }));
  await project.ok("POST /events/batch", { events });
}

type Answer = {
  readonly data: {
    readonly buckets: readonly (string | null)[];
    readonly has_other_bucket: boolean;
    readonly series: readonly {
      readonly split: string | null;
      readonly is_other: boolean;
      readonly values: readonly number[];
    }[];
  };
  readonly meta: { readonly split_count: number; readonly exact: boolean };
};

async function ask(project: MetricProject, query: object): Promise<Answer> {
  const { data } = await project.ok("POST /v1/charts/query", {
    date_range: { start_time: startMs, end_time: startMs + hourMs - 1 },
    filters: [{ field: "event_type", operator: "is", value: "tool" }],
    query: { measures: [{ metric: "event_count" }], split_by: "metadata.user", ...query },
  });
  return data as Answer;
}

test.each(["categorical", "table"])(
  "the last bucket of a %s chart says whether it is that of all others",
  async (kind) => {
    const project = await givenAMetricProject(service);
    await give(project, "other", "other", "a", "b");

    const cut = await ask(project, { kind, split_ranking: { limit: 1 } });
    const whole = await ask(project, { kind });
    const left = await ask(project, { kind, split_ranking: { limit: 1, include_other: false } });

    expect(cut.data).toMatchObject({ buckets: ["other", "other"], has_other_bucket: true });
    expect(cut.data.series[0]?.values).toEqual([2, 2]);
    expect(whole.data).toMatchObject({ buckets: ["other", "a", "b"], has_other_bucket: false });
    expect(left.data).toMatchObject({ buckets: ["other"], has_other_bucket: false });
  },
);

test.each([
  { way: "from summaries", unit: "hour" },
  { way: "from the events", unit: "minute" },
])("long values with one beginning have series of their own ($way)", async ({ unit }) => {
  const project = await givenAMetricProject(service);
  const start = "é".repeat(1_000);
  const users = [start, `${start}a`, `${start}b`, `${start}b`];
  await give(project, ...users);

  const { data, meta } = await ask(project, { kind: "time_series", bucket: { unit } });

  const sums = data.series.map(({ values }) => values.reduce((left, right) => left + right, 0));
  expect(sums).toEqual([2, 1, 1]);
  expect(meta).toMatchObject({ split_count: 3, exact: true });
  const splits = data.series.map(({ split }) => split ?? "");
  expect(new Set(splits).size).toBe(3);
  expect(splits).toContain(start);
  for (const split of splits) expect(split.slice(0, 1_000)).toBe(start);
});
