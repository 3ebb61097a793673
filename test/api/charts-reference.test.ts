// Charts of generated events against the same charts in memory: every measure, aggregation and
// kind, in time zones with their changes of clocks, with late events, updates and deletions.
// Source: docs/decisions.md, 27, 47.1; docs/charts.md.

import fc from "fast-check";
import { expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import {
  aggregate,
  aggregations,
  barsOf,
  bucketOf,
  numbersOf,
  type ReferenceEvent,
  type ReferenceUnit,
  splitsByRank,
} from "../support/charts-reference.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

/** CHART_RUNS raises it for longer runs. */
const runsPerTest = Number(process.env["CHART_RUNS"] ?? 1);

/**
 * Places and times at which clocks are moved by an hour or by half of one, also over midnight, or
 * never.
 */
const changes = [
  { zone: "UTC", at: "2024-03-10T00:00:00Z" },
  { zone: "Europe/Paris", at: "2024-03-31T01:00:00Z" },
  { zone: "Europe/Paris", at: "2024-10-27T01:00:00Z" },
  { zone: "America/New_York", at: "2024-11-03T06:00:00Z" },
  { zone: "Australia/Lord_Howe", at: "2024-04-06T15:00:00Z" },
  { zone: "Asia/Kathmandu", at: "2024-06-01T00:00:00Z" },
  { zone: "Australia/Lord_Howe", at: "2024-10-05T15:30:00Z" },
  { zone: "America/Sao_Paulo", at: "2018-11-04T03:00:00Z" },
  { zone: "America/Havana", at: "2024-11-03T05:00:00Z" },
  { zone: "Atlantic/Azores", at: "2024-10-27T01:00:00Z" },
  // A midnight that starts a week, and one that starts a month.
  { zone: "America/Asuncion", at: "2024-03-24T03:00:00Z" },
  { zone: "America/Scoresbysund", at: "2023-10-29T01:00:00Z" },
  { zone: "Asia/Amman", at: "2021-10-28T22:00:00Z" },
] as const;

const spans: Readonly<Record<ReferenceUnit, number>> = {
  minute: 3_600_000,
  hour: 86_400_000,
  day: 5 * 86_400_000,
  week: 40 * 86_400_000,
  month: 120 * 86_400_000,
};

const quarters = fc.option(fc.integer({ min: -50, max: 1_000 }).map((value) => value / 4));
const tokens = fc.option(fc.nat(500));

const event = fc.record({
  part: fc.double({ min: -1, max: 1, noNaN: true }),
  split: fc.constantFrom("a", "b", "c", "d", null),
  value: quarters,
  quality: quarters,
  passed: fc.option(fc.boolean()),
  duration: fc.option(fc.nat(4_000).map((value) => value / 4)),
  isError: fc.boolean(),
  cost: fc.option(fc.nat(1_000).map((value) => value / 16)),
  total: tokens,
  prompt: tokens,
  completion: tokens,
});

type Given = {
  readonly id: string;
  readonly at: number;
  readonly split: string | null;
  readonly value: number | null;
  readonly quality: number | null;
  readonly passed: boolean | null;
  readonly duration: number | null;
  readonly isError: boolean;
  readonly cost: number | null;
  readonly total: number | null;
  readonly prompt: number | null;
  readonly completion: number | null;
};

/** The number of an event for each measure; null without one. */
const measures: Readonly<Record<string, (given: Given) => number | null>> = {
  event_count: () => 1,
  duration: ({ duration }) => duration,
  cost: ({ cost }) => cost,
  total_tokens: ({ total, prompt, completion }) => total ?? plus(prompt, completion),
  prompt_tokens: ({ prompt }) => prompt,
  completion_tokens: ({ completion }) => completion,
  error_rate: ({ isError }) => Number(isError),
  "metadata.value": ({ value }) => value,
  "metrics.quality": ({ quality }) => quality,
  "metrics.passed": ({ passed }) => (passed === null ? null : Number(passed)),
};

function plus(left: number | null, right: number | null): number | null {
  return left === null ? right : left + (right ?? 0);
}

function toReference(given: Given): ReferenceEvent {
  const values = Object.entries(measures).map(([name, of]) => [name, of(given)] as const);
  return { at: given.at, split: given.split, values: Object.fromEntries(values) };
}

function present(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
}

function toEvent({ id, at, ...given }: Given, type = "tool") {
  const { split, value, quality, passed, duration, isError, cost } = given;
  const { total: total_tokens, prompt: prompt_tokens, completion: completion_tokens } = given;
  return {
    event_type: type,
    source: "test",
    event_id: id,
    session_id: `of ${id}`,
    inputs: {},
    start_time: at,
    ...present({ duration, error: isError ? "it broke" : null }),
    metadata: present({ split, value, cost, total_tokens, prompt_tokens, completion_tokens }),
    metrics: present({ quality, passed }),
  };
}

/** An event of another type, which gives every field a number and which no chart counts. */
const noise: Given = {
  id: "noise",
  at: 1,
  split: "noise",
  value: 9_000,
  quality: 9_000,
  passed: true,
  cost: 9_000,
  duration: 9_000,
  isError: true,
  total: 9_000,
  prompt: 9_000,
  completion: 9_000,
};

/** Stores events: some first with other numbers, some late, and some that are deleted again. */
async function store(project: MetricProject, events: readonly Given[]): Promise<void> {
  const chain = toEvent({ ...noise, at: events[0]?.at ?? 0 }, "chain");
  const body = { events: [...events.map((one) => toEvent(one)).toReversed(), chain] };
  await project.ok("POST /events/batch", body);
  const some = events.filter((_, at) => at % 3 === 0);
  await Promise.all(
    some.map(({ id }) => {
      const metadata = { value: 1_000, cost: 1_000, split: "changed" };
      const change = { event_id: id, metadata, metrics: { quality: 1_000 }, error: "it broke" };
      return project.ok("PUT /events", change);
    }),
  );
  await Promise.all(
    some.map(({ id, value, cost, split, quality, isError }) => {
      // What holds no number counts as absent.
      const metadata = { value: value ?? "none", cost: cost ?? {}, split: split ?? {} };
      const metrics = { quality: quality ?? "none" };
      const error = isError ? "it broke" : "";
      return project.ok("PUT /events", { event_id: id, metadata, metrics, error });
    }),
  );
  const gone = { ...noise, id: "gone", at: events[0]?.at ?? 0 };
  await project.ok("POST /events", { event: toEvent(gone) });
  await project.ok("DELETE /v1/events/gone");
}

/**
 * Changes stored events after charts were asked for: the numbers of some, the time of one, a late
 * one, and a deletion. Returns the events as they are then.
 */
async function change(project: MetricProject, events: readonly Given[]): Promise<Given[]> {
  const [first, ...others] = events;
  if (first === undefined) return [];
  const changed = others.map((one, at) => {
    if (at % 4 !== 0) return one;
    const [value, duration] = [(one.value ?? 0) + 7, (one.duration ?? 0) + 5];
    return { ...one, value, duration, quality: -1.5, passed: true, isError: true, total: 77 };
  });
  for (const one of changed.filter((_, at) => at % 4 === 0)) {
    const { metadata, metrics } = toEvent(one);
    const { id, duration } = one;
    await project.ok("PUT /events", {
      event_id: id,
      metadata,
      metrics,
      duration,
      error: "it broke",
    });
  }
  const moved = { ...first, at: changed[0]?.at ?? first.at };
  await project.ok("POST /events", { event: toEvent(moved) });
  const late = { ...first, id: "late", value: 12.5, cost: 2, split: "a" };
  await project.ok("POST /events", { event: toEvent(late) });
  const last = changed.length > 1 ? changed.pop() : undefined;
  if (last !== undefined) await project.ok(`DELETE /v1/events/${last.id}`);
  return [moved, ...changed, late];
}

type Series = {
  readonly measure: string;
  readonly split: string | null;
  readonly is_other: boolean;
  readonly values: readonly (number | null)[];
};

type Answer = {
  readonly data: {
    readonly buckets: readonly unknown[];
    readonly series: readonly Series[];
  };
  readonly meta: { readonly matched_event_count: number };
};

type Asked = { readonly metric: string; readonly aggregation: string };

type Question = {
  readonly from: number;
  readonly to: number;
  readonly unit: ReferenceUnit;
  readonly zone: string;
  /** All measures; the first one ranks. */
  readonly asked: readonly Asked[];
  readonly limit: number;
};

/** Decimals differ in their last digit by the order of a sum. */
function near(value: number | null): unknown {
  return value === null ? null : (expect.closeTo(value, 6) as unknown);
}

const cases = fc.record({
  clocks: fc.constantFrom(...changes),
  unit: fc.constantFrom(...(Object.keys(spans) as ReferenceUnit[])),
  first: fc.nat(Object.keys(measures).length - 1),
  limit: fc.integer({ min: 1, max: 6 }),
  given: fc.array(event, { minLength: 1, maxLength: 30 }),
});

/** Returns every measure with an aggregation, another one for each `shift`. */
function measuresWith(shift: number, first: number): readonly Asked[] {
  const all = Object.keys(measures).map((metric, at) => {
    const aggregation = aggregations[(at + shift) % aggregations.length] ?? "count";
    return { metric, aggregation: metric === "event_count" ? "count" : aggregation };
  });
  return [...all.slice(first), ...all.slice(0, first)];
}

test("buckets of every unit hold their events where clocks are moved", async () => {
  for (const { zone, at } of changes) {
    const project = await givenAMetricProject(service);
    const center = Date.parse(at);
    const times = Array.from({ length: 41 }, (_, step) => center + (step - 20) * 600_000);
    const events = times.map((start_time) => ({
      event_type: "tool",
      source: "test",
      inputs: {},
      start_time,
    }));
    await project.ok("POST /events/batch", { events });
    const [from, to] = [Math.min(...times), Math.max(...times) + 1];
    for (const unit of Object.keys(spans) as ReferenceUnit[]) {
      const starts = startsOf({ from, to: to - 1, unit, zone });
      const counts = starts.map(
        (start) => times.filter((time) => bucketOf(time, unit, zone) === start).length,
      );
      // The second answer comes from summaries.
      for (const _ of ["events", "summaries"]) {
        const { data } = (await project.ok("POST /v1/charts/query", {
          date_range: { start_time: from, end_time: to, timezone: zone },
          filters: [{ field: "event_type", operator: "is", value: "tool" }],
          query: {
            kind: "time_series",
            measures: [{ metric: "event_count", aggregation: "count" }],
            bucket: { unit },
          },
        })) as { data: Answer };
        const buckets = data.data.buckets.map((text) => Date.parse(String(text)));
        expect([zone, unit, buckets]).toEqual([zone, unit, starts]);
        expect([zone, unit, data.data.series[0]?.values]).toEqual([zone, unit, counts]);
      }
    }
  }
});

test.each(aggregations.map((_, shift) => ({ shift })))(
  "charts of all measures and kinds are those of a computation in memory ($shift)",
  { timeout: 240_000 },
  async ({ shift }) => {
    await fc.assert(
      fc.asyncProperty(cases, async ({ clocks, unit, first, limit, given }) => {
        const project = await givenAMetricProject(service);
        const center = Date.parse(clocks.at);
        const events = given.map(({ part, ...one }, at) => {
          return { ...one, id: `e${at}`, at: Math.round(center + part * spans[unit]) };
        });
        const [from, to] = [center - spans[unit], center + spans[unit]];
        const asked = measuresWith(shift, first);
        const question = { from, to, unit, zone: clocks.zone, asked, limit };
        await store(project, events);
        await compare(project, events, question);
        // The same charts again, now from summaries, and once more after changes.
        await compare(project, events, question);
        await compare(project, await change(project, events), question);
      }),
      { numRuns: runsPerTest },
    );
  },
);

/** Compares charts of all kinds with those of the events in memory. */
async function compare(
  project: MetricProject,
  given: readonly Given[],
  question: Question,
): Promise<void> {
  const { from, to, zone, unit, asked, limit } = question;
  const events = given.map(toReference);
  const ask = async (query: object): Promise<Answer> => {
    const filters = [{ field: "event_type", operator: "is", value: "tool" }];
    const range = { start_time: from, end_time: to, timezone: zone };
    const { data } = await project.ok("POST /v1/charts/query", {
      date_range: range,
      filters,
      query,
    });
    const answer = data as Answer;
    expect(answer.meta).toMatchObject({ matched_event_count: events.length, exact: true });
    return answer;
  };
  const splitting = { split_by: "metadata.split", split_ranking: { limit } };
  const overTime = { kind: "time_series", measures: asked, bucket: { unit } };
  const [inAll, byTime, byBoth, ...bySplit] = await Promise.all([
    ask({ kind: "scalar", measures: asked }),
    ask(overTime),
    ask({ ...overTime, ...splitting }),
    ask({ kind: "table", measures: asked, ...splitting }),
    ask({ kind: "categorical", measures: asked, ...splitting }),
  ]);
  const of = (mine: readonly ReferenceEvent[]) => (one: Asked) =>
    near(aggregate(numbersOf(mine, one.metric), one.aggregation));

  expect(inAll.data.series.map(({ values }) => values[0])).toEqual(asked.map(of(events)));

  const starts = startsOf(question);
  const inBucket = starts.map((start) =>
    events.filter(({ at }) => bucketOf(at, unit, zone) === start),
  );
  expect(byTime.data.buckets.map((text) => Date.parse(String(text)))).toEqual(starts);
  expect(byTime.data.series.map(({ values }) => values)).toEqual(
    asked.map((one) => inBucket.map((mine) => of(mine)(one))),
  );

  const groups = groupsOf(bySplit[0]?.data.buckets ?? [], events, question);
  for (const { data } of bySplit) {
    expect(data.buckets).toEqual(groups.map(({ label }) => label));
    expect(data.series.map(({ values }) => values)).toEqual(
      asked.map((one) => groups.map(({ isIn }) => of(events.filter(isIn))(one))),
    );
  }
  expect(byBoth.data.series.map(({ split, is_other: isOther }) => [split, isOther])).toEqual(
    asked.flatMap(() => groups.map(({ split, isOther }) => [split, isOther])),
  );
  expect(byBoth.data.series.map(({ values }) => values)).toEqual(
    asked.flatMap((one) =>
      groups.map(({ isIn }) => inBucket.map((mine) => of(mine.filter(isIn))(one))),
    ),
  );

  await Promise.all(
    asked
      .filter(({ metric }) => metric !== "event_count")
      .map(async ({ metric }) => {
        const bucket = { max_points: limit };
        const { data } = await ask({ kind: "histogram", measures: [{ metric }], bucket });
        const bars = barsOf(numbersOf(events, metric), limit);
        expect(data.buckets).toEqual(
          bars.map((bar) => ({ from: near(bar.from), to: near(bar.to) })),
        );
        expect(data.series[0]?.values).toEqual(bars.map(({ count }) => count));
      }),
  );
}

/** Returns the groups of a split in the order of an answer, whose ranking must be right. */
function groupsOf(
  shown: readonly unknown[],
  events: readonly ReferenceEvent[],
  { asked, limit }: Question,
) {
  const [first = { metric: "", aggregation: "" }] = asked;
  const ranks = splitsByRank(events, first);
  const own = shown.slice(0, limit) as (string | null)[];
  // Equal values may stand in any order.
  expect(own.map((split) => ranks.get(split))).toEqual([...ranks.values()].slice(0, limit));
  const groups = own.map((split) => ({
    label: split,
    split,
    isOther: false,
    isIn: (one: ReferenceEvent) => one.split === split,
  }));
  if (ranks.size <= limit) return groups;
  const isIn = (one: ReferenceEvent) => !own.includes(one.split);
  return [...groups, { label: "other", split: null, isOther: true, isIn }];
}

/** Returns the starts of all buckets of a range, empty ones too. */
function startsOf({
  from,
  to,
  unit,
  zone,
}: Pick<Question, "from" | "to" | "unit" | "zone">): number[] {
  const starts = new Set<number>();
  const step = unit === "minute" ? 60_000 : 15 * 60_000;
  for (let at = from; at < to; at += step) starts.add(bucketOf(at, unit, zone));
  starts.add(bucketOf(to, unit, zone));
  return [...starts].toSorted((left, right) => left - right);
}
