// Charts beside writers: each answer is of one moment, and the last one is exact. Every commit of
// the writers keeps the sum of all values at 0, in events of different hours.
// Source: docs/decisions.md, 47.4.

import { expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

const startMs = Date.parse("2025-03-01T00:00:00Z");
const hourMs = 3_600_000;
const hours = 48;
const writers = 4;
const rounds = 25;

/** A pair of events in one session, whose values cancel each other out. */
function pair(name: string, value: number, place: number) {
  return [value, -value].map((one, at) => ({
    event_type: "tool",
    event_name: "step",
    source: "test",
    inputs: {},
    event_id: `${name} ${at}`,
    session_id: name,
    start_time: startMs + ((place * (7 + at)) % hours) * hourMs + 60_000,
    metadata: { value: one },
  }));
}

type Answer = {
  readonly data: { readonly series: readonly { readonly values: readonly (number | null)[] }[] };
  readonly meta: { readonly matched_event_count: number };
};

async function ask(project: MetricProject, kind: "scalar" | "time_series"): Promise<Answer> {
  const { data } = await project.ok("POST /v1/charts/query", {
    date_range: { start_time: startMs, end_time: startMs + hours * hourMs - 1 },
    filters: [{ field: "event_type", operator: "is", value: "tool" }],
    query: {
      kind,
      measures: [{ metric: "metadata.value", aggregation: "sum" }],
      ...(kind === "time_series" && { bucket: { unit: "hour" } }),
    },
  });
  return data as Answer;
}

function sumOf({ data }: Answer): number {
  return (data.series[0]?.values ?? []).reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

/** Stores pairs, changes values and hours of some, and deletes others. Returns the pairs left. */
async function write(project: MetricProject, writer: number): Promise<number> {
  let left = 0;
  for (let round = 0; round < rounds; round += 1) {
    const name = `${writer}-${round}`;
    await project.ok("POST /events/batch", { events: pair(name, round + 1, writer + round) });
    left += 1;
    if (round % 3 === 1) {
      await project.ok("POST /events/batch", { events: pair(name, round + 50, round + 5) });
    }
    if (round % 3 === 2) {
      await project.ok(`DELETE /v1/sessions/${name}`);
      left -= 1;
    }
  }
  return left;
}

test("charts beside writers are of one moment, and exact at the end", async () => {
  const project = await givenAMetricProject(service);
  await project.ok("POST /events/batch", { events: pair("first", 3, 1) });
  let isWriting = true;
  const written = Promise.all(
    Array.from({ length: writers }, (_, writer) => write(project, writer)),
  ).finally(() => (isWriting = false));
  let answers = 0;
  while (isWriting) {
    for (const kind of ["scalar", "time_series"] as const) {
      const answer = await ask(project, kind);
      expect(sumOf(answer)).toBe(0);
      expect(answer.meta.matched_event_count % 2).toBe(0);
      answers += 1;
    }
  }

  const pairs = (await written).reduce((sum, left) => sum + left, 1);
  const last = await ask(project, "scalar");
  expect(answers).toBeGreaterThan(0);
  expect(sumOf(last)).toBe(0);
  expect(last.meta.matched_event_count).toBe(2 * pairs);
});
