// Limits of a chart: the memory that it counts as, in any size, and the time that it may take.
// Source: docs/charts.md, "Speed"; docs/limits.md.

import { beforeEach, expect, test } from "vitest";
import { createByteBudget, createSharedBudget } from "../../src/base/byte-budget.ts";
import { createUuid, type ProjectId } from "../../src/base/ids.ts";
import { chartCellBytes, chartUsualCells, chartValueBytes } from "../../src/base/tenant-limits.ts";
import { openDatabase, type Read } from "../../src/postgres/database.ts";
import { parseQuestion } from "../../src/tracing/charts/chart-query.ts";
import { createCharts } from "../../src/tracing/charts/charts.ts";
import { createSummaries } from "../../src/tracing/charts/summaries/summaries.ts";
import { createEvents } from "../../src/tracing/events/events.ts";
import { createRecorder } from "../../src/tracing/events/record.ts";
import { parseFilters } from "../../src/tracing/export/filter.ts";
import { createFieldCatalogue, type FieldCatalogue } from "../../src/tracing/fields/fields.ts";
import { givenTestDatabase } from "../support/database.ts";

const hourMs = 3_600_000;
const startMs = Date.parse("2025-03-01T00:00:00Z");
const events = 60;

const testDatabase = givenTestDatabase();
let fields: FieldCatalogue;
let projectId: ProjectId;

beforeEach(async () => {
  const { database } = testDatabase;
  fields = createFieldCatalogue({ database });
  projectId = createUuid() as ProjectId;
  await createEvents(database, createRecorder({ database, fields })).createBatch(
    projectId,
    Array.from({ length: events }, (_, at) => ({
      index: at,
      input: {
        event_id: `e${at}`,
        session_id: "s",
        event_type: "tool",
        inputs: {},
        start_time: startMs + (at % 6) * hourMs + at * 1_000,
        metadata: { value: at, user: `u${at}` },
      },
    })),
  );
});

const request = {
  kind: "table",
  startTimeMs: startMs,
  endTimeMs: startMs + 10 * hourMs,
  filters: [{ field: "event_type", operator: "is", value: "tool" }],
  measures: [{ metric: "metadata.value", aggregation: "median" }],
  splitBy: "metadata.user",
  splitLimit: 4,
};
const answerBytes = 5 * chartValueBytes;

/** Stores an event of a past hour. */
async function late(startTimeMs: number): Promise<void> {
  const { database } = testDatabase;
  await createEvents(database, createRecorder({ database, fields })).create(projectId, {
    event_id: "late",
    session_id: "s",
    event_type: "tool",
    inputs: {},
    start_time: startTimeMs,
    metadata: { value: 1, user: "u1" },
  });
}

test("a chart holds the memory of its answer alone once it is answered", async () => {
  const charts = createCharts({ database: testDatabase.database, fields });
  const memory = createByteBudget(1e9).open();
  const seen: number[] = [];
  const counted = {
    ...memory,
    grow(bytes: number) {
      memory.grow(bytes);
      seen.push(memory.bytes());
    },
  };

  const first = await charts.query(projectId, request, { memory: counted });
  const cold = seen.splice(0);
  const second = await charts.query(projectId, request, { memory: counted });
  const warm = seen.splice(0);
  await late(startMs + hourMs);
  const third = await charts.query(projectId, request, { memory: counted });
  const changed = seen.splice(0);

  expect(second).toEqual(first);
  expect(first.matched).toBe(events);
  expect(third.matched).toBe(events + 1);
  expect(memory.bytes()).toBe(3 * answerBytes);
  expect(Math.max(...cold)).toBeGreaterThan(1_000_000 * chartCellBytes);
  // The second one reads no event, and the third one expects few hours that changed.
  expect(Math.max(...warm)).toBeLessThan(chartUsualCells * chartCellBytes);
  expect(changed).toContain(3 * answerBytes + chartUsualCells * chartCellBytes);
  expect(Math.max(...changed)).toBeLessThan(2 * chartUsualCells * chartCellBytes);
});

test("a chart that has no room in memory for summaries is answered from the events", async () => {
  const charts = createCharts({ database: testDatabase.database, fields });
  const roomy = await charts.query(projectId, request);
  // Room for 50 cells, of the 120 groups and numbers of the chart.
  const memory = createByteBudget(100 * chartCellBytes).open();
  const crowded = createCharts({ database: testDatabase.database, fields });

  expect(await crowded.query(projectId, request, { memory })).toEqual(roomy);
  expect(memory.bytes()).toBe(answerBytes);
});

test("a tenant without memory left has its charts refused, and another has not", async () => {
  const charts = createCharts({ database: testDatabase.database, fields });
  const budget = createSharedBudget(1e8, "requests and answers");
  const openFor = (holder: string) => budget.open([{ holder, part: 0.5 }]);
  openFor("a").grow(5e7 - answerBytes);

  const refused = charts.query(projectId, request, { memory: openFor("a") });

  await expect(refused).rejects.toMatchObject({ reason: "OVERLOADED" });
  const { matched } = await charts.query(projectId, request, { memory: openFor("b") });
  expect(matched).toBe(events);
});

test("an answer that can never fit into memory is refused for good", async () => {
  const charts = createCharts({ database: testDatabase.database, fields });
  const memory = createByteBudget(answerBytes - 1).open();

  await expect(charts.query(projectId, request, { memory })).rejects.toMatchObject({
    reason: "INVALID_ARGUMENT",
    message: expect.stringMatching(
      /^query\.measures: an answer of up to 5 values does not/,
    ) as string,
  });
});

test("a chart that takes too long says what to ask for instead", async () => {
  const own = openDatabase({ url: testDatabase.url, statementTimeoutMs: 100 });
  const charts = createCharts({ database: own, fields });
  const released = Promise.withResolvers<void>();
  const isLocked = Promise.withResolvers<void>();
  const locked = testDatabase.database.transaction(async (sql) => {
    await sql`lock table events in access exclusive mode`;
    isLocked.resolve();
    await released.promise;
  });
  await isLocked.promise;

  await expect(charts.query(projectId, request)).rejects.toMatchObject({
    reason: "DEADLINE_EXCEEDED",
    message:
      "the read took longer than 100 ms; ask for less: a narrower date range, a filter on more, " +
      "a larger bucket, or a split with fewer values",
  });
  released.resolve();
  await locked;
  await own.close();
});

test.each([
  { name: "its time is over", want: { reason: "DEADLINE_EXCEEDED" } },
  { name: "the call is given up", want: { name: "AbortError" } },
])("adding summaries up ends when $name, and keeps what was read", async ({ want }) => {
  const call = new AbortController();
  const end = { atMs: Infinity };
  const reader = testDatabase.database.reader({ owner: projectId, kind: "charts" });
  let reads = 0;
  const conditions = parseFilters(request.filters, { fields: [], isComplete: true });
  const [fromUs, toUs] = [request.startTimeMs * 1_000, request.endTimeMs * 1_000];
  const asking = {
    query: { projectId, conditions, fromUs, toUs },
    question: parseQuestion(request, await fields.fieldsOf(projectId), Date.now()),
    starts: [0],
    organization: undefined,
    signal: call.signal,
    memory: createByteBudget(1e9).open(),
    get endsAtMs() {
      return end.atMs;
    },
    read: (async (statement) => {
      const rows = await reader(statement);
      reads += 1;
      if (want.reason !== undefined) end.atMs = 0;
      else call.abort();
      return rows;
    }) satisfies Read,
  };
  const summaries = createSummaries();

  await expect(summaries.listCells(asking)).rejects.toMatchObject(want);
  end.atMs = Infinity;
  const again = { ...asking, signal: undefined, endsAtMs: Infinity, read: reader };

  expect(await summaries.listCells(again)).toHaveLength(5);
  expect(reads).toBe(1);
});
