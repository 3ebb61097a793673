// Charts of generated events against the same charts in memory: every aggregation and kind, in time
// zones with their changes of clocks, with late events, updates and deletions.
// Source: docs/decisions.md, 27, 47.1; docs/charts.md.

import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  aggregate,
  aggregations,
  bucketOf,
  type ReferenceEvent,
  type ReferenceUnit,
} from "../support/charts-reference.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startService, type TestService } from "../support/service.ts";

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** Places and days at which clocks are moved by an hour or by half of one, or never. */
const changes = [
  { zone: "UTC", at: "2024-03-10T00:00:00Z" },
  { zone: "Europe/Paris", at: "2024-03-31T01:00:00Z" },
  { zone: "Europe/Paris", at: "2024-10-27T01:00:00Z" },
  { zone: "America/New_York", at: "2024-11-03T06:00:00Z" },
  { zone: "Australia/Lord_Howe", at: "2024-04-06T15:00:00Z" },
  { zone: "Asia/Kathmandu", at: "2024-06-01T00:00:00Z" },
  { zone: "America/Sao_Paulo", at: "2018-11-04T03:00:00Z" },
] as const;

const spans: Readonly<Record<ReferenceUnit, number>> = {
  minute: 3_600_000,
  hour: 86_400_000,
  day: 5 * 86_400_000,
  week: 40 * 86_400_000,
  month: 120 * 86_400_000,
};

const event = fc.record({
  part: fc.double({ min: -1, max: 1, noNaN: true }),
  split: fc.constantFrom("a", "b", "c", "d", null),
  value: fc.option(fc.integer({ min: -50, max: 1_000 }).map((value) => value / 4)),
});

type Given = ReferenceEvent & { readonly id: string };

function toEvent({ id, at, split, value }: Given) {
  return {
    ...{
      event_type: "tool",
      source: "test",
      event_id: id,
      session_id: `of ${id}`,
      start_time: at,
      inputs: {},
    },
    metadata: { ...(split !== null && { split }), ...(value !== null && { value }) },
  };
}

/** Stores events: some first with another value, some late, and some that are deleted again. */
async function store(project: MetricProject, events: readonly Given[]): Promise<void> {
  const body = { events: events.map(toEvent).toReversed() };
  await project.ok("POST /events/batch", body);
  for (const one of events.filter((_, at) => at % 3 === 0)) {
    const metadata = { value: (one.value ?? 0) + 1_000, split: "changed" };
    await project.ok("PUT /events", { event_id: one.id, metadata });
    const back = { value: one.value ?? "none", split: one.split ?? {} };
    await project.ok("PUT /events", { event_id: one.id, metadata: back });
  }
  const gone = { id: "gone", at: events[0]?.at ?? 0, split: "gone", value: 5_000 };
  await project.ok("POST /events", { event: toEvent(gone) });
  await project.ok("DELETE /v1/events/gone");
}

/**
 * Changes stored events after charts were asked for: some numbers, the time of one, a late one, and
 * a deletion. Returns the events as they are then.
 */
async function change(project: MetricProject, events: readonly Given[]): Promise<Given[]> {
  const [first, ...others] = events;
  if (first === undefined) return [];
  const changed = others.map((one, at) =>
    at % 4 === 0 ? { ...one, value: (one.value ?? 0) + 7 } : one,
  );
  for (const one of changed.filter((_, at) => at % 4 === 0)) {
    await project.ok("PUT /events", { event_id: one.id, metadata: { value: one.value } });
  }
  const moved = { ...first, at: changed[0]?.at ?? first.at };
  await project.ok("POST /events", { event: toEvent(moved) });
  const late = { ...first, id: "late", value: 12.5, split: "a" };
  await project.ok("POST /events", { event: toEvent(late) });
  const last = changed.length > 1 ? changed.pop() : undefined;
  if (last !== undefined) await project.ok(`DELETE /v1/events/${last.id}`);
  return [moved, ...changed, late];
}

type Answer = {
  readonly data: {
    readonly buckets: readonly (string | null)[];
    readonly series: readonly {
      readonly split: string | null;
      readonly is_other: boolean;
      readonly values: readonly (number | null)[];
    }[];
  };
  readonly meta: { readonly matched_event_count: number };
};

async function ask(project: MetricProject, query: object, range: object): Promise<Answer> {
  const filters = [{ field: "event_type", operator: "is", value: "tool" }];
  const body = { date_range: range, filters, query };
  const { data } = await project.ok("POST /v1/charts/query", body);
  return data as Answer;
}

/** Decimals differ in their last digit by the order of a sum. */
function near(value: number | null): unknown {
  return value === null ? null : (expect.closeTo(value, 6) as unknown);
}

const cases = fc.record({
  clocks: fc.constantFrom(...changes),
  unit: fc.constantFrom(...(Object.keys(spans) as ReferenceUnit[])),
  aggregation: fc.constantFrom(...aggregations),
  limit: fc.integer({ min: 1, max: 6 }),
  given: fc.array(event, { minLength: 1, maxLength: 30 }),
});

test("charts are those of a computation in memory", { timeout: 240_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(cases, async ({ clocks, unit, aggregation, limit, given }) => {
      const project = await givenAMetricProject(service);
      const center = Date.parse(clocks.at);
      const events = given.map(({ part, split, value }, at) => ({
        ...{ id: `e${at}`, split, value },
        at: Math.round(center + part * spans[unit]),
      }));
      const [from, to] = [center - spans[unit], center + spans[unit]];
      const inZone = { from, to, unit, zone: clocks.zone };
      const question = { ...inZone, aggregation, limit };
      await store(project, events);
      await compare(project, events, question);
      // The same charts again, now from summaries, and once more after changes.
      await compare(project, events, question);
      await compare(project, await change(project, events), question);
    }),
    { numRuns: 40 },
  );
});

type Question = {
  readonly from: number;
  readonly to: number;
  readonly unit: ReferenceUnit;
  readonly zone: string;
  readonly aggregation: string;
  readonly limit: number;
};

/** Compares charts of all kinds with those of the events in memory. */
async function compare(
  project: MetricProject,
  events: readonly Given[],
  { from, to, unit, zone, aggregation, limit }: Question,
): Promise<void> {
  const range = { start_time: from, end_time: to, timezone: zone };
  const measure = { metric: "metadata.value", aggregation };
  const hasNumber = events.some(({ value }) => value !== null);
  if (!hasNumber) return;

  const inAll = await ask(project, { kind: "scalar", measures: [measure] }, range);
  expect(inAll.data.series[0]?.values).toEqual([near(aggregate(events, aggregation))]);
  expect(inAll.meta.matched_event_count).toBe(events.length);

  const byTime = await ask(
    project,
    { kind: "time_series", measures: [measure], bucket: { unit } },
    range,
  );
  const starts = byTime.data.buckets.map((text) => Date.parse(text ?? ""));
  expect(starts).toEqual(startsOf(from, to, unit, zone));
  expect(byTime.data.series[0]?.values).toEqual(
    starts.map((start) => {
      const mine = events.filter(({ at }) => bucketOf(at, unit, zone) === start);
      return near(aggregate(mine, aggregation));
    }),
  );

  const splitting = { split_by: "metadata.split", split_ranking: { limit } };
  const table = { kind: "table", measures: [measure], ...splitting };
  const bySplit = await ask(project, table, range);
  const { buckets, series } = bySplit.data;
  const shown = buckets.filter((_, at) => at < limit);
  expect(new Set(shown).size).toBe(shown.length);
  const wanted = buckets.map((bucket, at) => {
    const isOther = at >= limit;
    const mine = events.filter(({ split }) =>
      isOther ? !shown.includes(split) : split === bucket,
    );
    return near(aggregate(mine, aggregation));
  });
  expect(series[0]?.values).toEqual(wanted);
  const count = new Set(events.map(({ split }) => split)).size;
  expect(buckets).toHaveLength(Math.min(count, limit + 1));
}

/** Returns the starts of all buckets of a range, empty ones too. */
function startsOf(from: number, to: number, unit: ReferenceUnit, zone: string): number[] {
  const starts = new Set<number>();
  const step = unit === "minute" ? 60_000 : 15 * 60_000;
  for (let at = from; at < to; at += step) starts.add(bucketOf(at, unit, zone));
  starts.add(bucketOf(to, unit, zone));
  return [...starts].toSorted((left, right) => left - right);
}
