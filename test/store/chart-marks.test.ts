// Every way in which a write changes a past event marks the event's hour, so that a chart which
// adds summaries up and one which reads all events agree. Source: docs/decisions.md, 47.4.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createUuid, type ProjectId } from "../../src/base/ids.ts";
import { setEstimates } from "../../src/generation/prices/store.ts";
import { type Charts, createCharts } from "../../src/tracing/charts/charts.ts";
import { createFieldCatalogue } from "../../src/tracing/fields/fields.ts";
import { deleteSessions } from "../../src/tracing/retention/store.ts";
import { createTracing, type Tracing } from "../../src/tracing/tracing.ts";
import { givenTestDatabase, openTestClusters } from "../support/database.ts";

const hourMs = 3_600_000;
const startMs = Date.parse("2025-03-01T00:00:00Z");

const testDatabase = givenTestDatabase();
let tracing: Tracing;
let projectId: ProjectId;

afterEach(() => vi.restoreAllMocks());

beforeEach(async () => {
  const clusters = openTestClusters(testDatabase.database);
  tracing = createTracing({ clusters }).of({ clusterId: "default" });
  projectId = createUuid() as ProjectId;
  const inputs = [0, 1, 2, 3].map((hour) => event(`e${hour}`, hour, 2 ** hour));
  await store([...inputs, { ...event("group", 1, 0, "s e1"), event_type: "session" }]);
});

function event(id: string, hour: number, value: number, session = `s ${id}`) {
  return {
    event_id: id,
    session_id: session,
    event_type: "model",
    inputs: {},
    start_time: startMs + hour * hourMs + 1_000,
    metadata: { value },
    metrics: { quality: value },
    feedback: { rating: value },
  };
}

type Input = ReturnType<typeof event> & { readonly parent_id?: string };

async function store(inputs: readonly Input[]): Promise<void> {
  await tracing.events.createBatch(
    projectId,
    inputs.map((input, index) => ({ index, input })),
  );
}

async function ask(charts: Charts, fromMs = startMs): Promise<unknown> {
  const { series, matched } = await charts.query(projectId, {
    kind: "time_series",
    unit: "hour",
    startTimeMs: fromMs,
    endTimeMs: fromMs + 10 * hourMs,
    filters: [{ field: "event_type", operator: "is not", value: "session" }],
    measures: [
      { metric: "event_count" },
      { metric: "cost" },
      { metric: "metadata.value", aggregation: "sum" },
      { metric: "metrics.quality", aggregation: "sum" },
      { metric: "feedback.rating", aggregation: "median" },
    ],
  });
  return { matched, values: series.map(({ values }) => values) };
}

/** Returns charts without summaries in memory: the first one reads all events. */
function freshCharts(): Charts {
  const { database } = testDatabase;
  return createCharts({ database, fields: createFieldCatalogue({ database }) });
}

async function score(eventId: string, quality: number): Promise<void> {
  const types = await tracing.metrics.lock(projectId, [eventId]);
  await tracing.metrics.merge(projectId, types, [{ eventId, metrics: { quality }, removed: [] }]);
}

async function marks(): Promise<readonly number[]> {
  const rows = await testDatabase.database.sql()<{ hour: number }[]>`
    select hour from chart_marks where project_id = ${projectId} order by hour`;
  return rows.map(({ hour }) => hour - startMs / hourMs);
}

test.each<{ name: string; change: () => Promise<unknown> }>([
  { name: "an event of known shape", change: () => store([event("late", 1, 8)]) },
  {
    name: "an event of unknown shape",
    change: () => store([{ ...event("late", 1, 8), metadata: { value: 8, [createUuid()]: 1 } }]),
  },
  {
    name: "an event with a cost",
    change: () =>
      tracing.events.create(projectId, { ...event("late", 1, 8), metadata: { cost: 0.5 } }),
  },
  {
    name: "an event of a session inside a session",
    change: () =>
      store([
        { ...event("inner", 1, 0, "s e1"), event_type: "session" },
        { ...event("late", 2, 8, "s e1"), parent_id: "inner" },
      ]),
  },
  {
    name: "an update",
    change: () => tracing.events.update(projectId, "e1", { metadata: { value: 16 } }),
  },
  {
    name: "an update of an event in another request's shape",
    change: () => tracing.events.enrich(projectId, "e1", { metrics: { quality: 16, other: 1 } }),
  },
  { name: "the same event again with other values", change: () => store([event("e1", 1, 16)]) },
  { name: "the same event again in another hour", change: () => store([event("e1", 5, 2)]) },
  {
    name: "new events and updates in one batch",
    change: () => store([event("late", 4, 8), event("e3", 3, 32), event("e2", 0, 4)]),
  },
  {
    name: "an update that waits for its event",
    change: async () => {
      await tracing.events.enrich(projectId, "late", { metadata: { value: 64 } });
      await tracing.events.create(projectId, event("late", 1, 8));
    },
  },
  { name: "a deletion", change: () => tracing.events.delete(projectId, "e2") },
  { name: "the deletion of a session", change: () => tracing.sessions.delete(projectId, "s e2") },
  {
    name: "the deletion of old sessions",
    change: () =>
      testDatabase.database.transaction((sql) => deleteSessions(sql, projectId, ["s e0", "s e3"])),
  },
  {
    name: "an estimate of cost",
    change: () =>
      testDatabase.database.transaction((sql) =>
        setEstimates(sql, projectId, [{ eventId: "e3", estimate: { cost: 2, price_table: "t" } }]),
      ),
  },
  { name: "a score", change: () => testDatabase.database.transaction(() => score("e1", 64)) },
  {
    name: "feedback",
    change: () =>
      tracing.feedback.create(projectId, {
        generationId: "e1",
        task: "t",
        items: { rating: 64 },
        groundTruth: undefined,
      }),
  },
])("a chart shows $name", async ({ change }) => {
  const before = await ask(tracing.charts);

  await change();

  const after = await ask(tracing.charts);
  expect(after).not.toEqual(before);
  expect(after).toEqual(await ask(freshCharts()));
});

test("an hour has no more marks than transactions that change it at once", async () => {
  const { database } = testDatabase;
  await store([event("twin", 0, 8)]);
  const before = await ask(tracing.charts);

  // The second transaction neither waits for the first nor renews its mark.
  const scored = Promise.withResolvers<void>();
  const isSecondDone = Promise.withResolvers<void>();
  const first = database.transaction(async () => {
    await score("e0", 32);
    scored.resolve();
    await isSecondDone.promise;
  });
  await scored.promise;
  await database.transaction(() => score("twin", 64));
  const one = await ask(tracing.charts);
  expect(one).toEqual(await ask(freshCharts()));
  isSecondDone.resolve();
  await first;
  const both = await ask(tracing.charts);

  expect(one).not.toEqual(before);
  expect(both).not.toEqual(one);
  expect(both).toEqual(await ask(freshCharts()));
  expect(await marks()).toEqual([0, 0, 1, 2, 3]);
  for (const quality of [1, 2, 3]) await database.transaction(() => score("e0", quality));
  expect(await marks()).toEqual([0, 0, 1, 2, 3]);
});

test("Postgres' clock decides which hours are marked and kept", async () => {
  const { database } = testDatabase;
  const nowMs = Date.now();
  const recent = { ...event("recent", 0, 8), start_time: nowMs - hourMs / 2 };
  const fromMs = Math.floor(nowMs / hourMs - 4) * hourMs;
  vi.spyOn(Date, "now").mockReturnValue(nowMs + 24 * hourMs);
  await tracing.events.create(projectId, recent);
  const before = await ask(tracing.charts, fromMs);
  expect(await marks()).toEqual([0, 1, 2, 3]);

  await database.sql()`
    delete from events where project_id = ${projectId} and event_id = 'recent'`;

  const after = await ask(tracing.charts, fromMs);
  expect(after).not.toEqual(before);
  expect(after).toEqual(await ask(freshCharts(), fromMs));
});
