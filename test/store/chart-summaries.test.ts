// Summaries of past hours: when a chart adds them up, and which writes make it read events again.

import { beforeEach, describe, expect, test } from "vitest";
import { createUuid, type ProjectId } from "../../src/base/ids.ts";
import type { Database } from "../../src/postgres/database.ts";
import { type Charts, createCharts } from "../../src/tracing/charts/charts.ts";
import { createEvents, type Events } from "../../src/tracing/events/events.ts";
import { createEventMetrics } from "../../src/tracing/events/metrics.ts";
import { createRecorder } from "../../src/tracing/events/record.ts";
import { createFieldCatalogue } from "../../src/tracing/fields/fields.ts";
import { createSessions, type Sessions } from "../../src/tracing/sessions/sessions.ts";
import { givenTestDatabase } from "../support/database.ts";

const hourMs = 3_600_000;
const startMs = Date.parse("2025-03-01T00:00:00Z");

const testDatabase = givenTestDatabase();
let events: Events;
let sessions: Sessions;
let charts: Charts;
let projectId: ProjectId;

beforeEach(async () => {
  const { database } = testDatabase;
  const fields = createFieldCatalogue({ database });
  const recorder = createRecorder({ database, fields });
  projectId = createUuid() as ProjectId;
  events = createEvents(database, recorder);
  sessions = createSessions({ database, recorder, fields });
  charts = createCharts({ database, fields });
  await events.createBatch(
    projectId,
    [1, 2, 4].map((value, index) => ({ index, input: event(`e${index}`, index, value) })),
  );
});

function event(id: string, hour: number, value: number) {
  return {
    event_id: id,
    session_id: `s ${id}`,
    event_type: "tool",
    inputs: {},
    start_time: startMs + hour * hourMs + 1_000,
    metadata: { value },
  };
}

function sum(hours = 10): Promise<number | null | undefined> {
  return sumOf({ startTimeMs: startMs, endTimeMs: startMs + hours * hourMs });
}

async function sumOf(range: {
  readonly startTimeMs: number;
  readonly endTimeMs: number;
}): Promise<number | null | undefined> {
  const { series } = await charts.query(projectId, {
    kind: "scalar",
    ...range,
    filters: [{ field: "event_type", operator: "is", value: "tool" }],
    measures: [{ metric: "metadata.value", aggregation: "sum" }],
  });
  return series[0]?.values[0];
}

/** Deletes an event without the mark that every write of the service makes. */
async function deleteUnmarked(id: string): Promise<void> {
  await testDatabase.database.sql()`
    delete from events where project_id = ${projectId} and event_id = ${id}`;
}

test("a second chart adds summaries up and reads no event of the past hours", async () => {
  expect(await sum()).toBe(7);
  await deleteUnmarked("e1");

  expect(await sum()).toBe(7);
});

test("a chart that is cut off keeps the hours that it has read", async () => {
  const { database } = testDatabase;
  let readsLeft = 1;
  const cutOff: Database = {
    ...database,
    reader(options) {
      const read = database.reader(options);
      return async (statement) => {
        if (readsLeft === 0) throw new Error("cut off");
        readsLeft -= 1;
        return read(statement);
      };
    },
  };
  charts = createCharts({ database: cutOff, fields: createFieldCatalogue({ database }) });
  await events.create(projectId, event("far", 300, 8));
  await expect(sum(400)).rejects.toThrow("cut off");
  await deleteUnmarked("e1");
  readsLeft = Infinity;

  expect(await sum(400)).toBe(15);
});

test("a chart reads the events of a marked hour again, and of no other", async () => {
  expect(await sum()).toBe(7);
  await deleteUnmarked("e0");
  await events.create(projectId, event("late", 1, 8));

  expect(await sum()).toBe(15);
});

test("a chart keeps the ends of its range until an event comes there", async () => {
  // The first hour but for its first millisecond, and a second of the last one.
  const range = { startTimeMs: startMs + 1, endTimeMs: startMs + 4 * hourMs + 2_000 };
  await events.create(projectId, event("end", 4, 16));
  const first = await sumOf(range);
  await deleteUnmarked("e0");
  await deleteUnmarked("end");
  const kept = await sumOf(range);

  await events.create(projectId, event("late", 4, 32));

  expect([first, kept, await sumOf(range)]).toEqual([23, 23, 39]);
});

test("a chart keeps the ends of few ranges", async () => {
  const range = { startTimeMs: startMs + 1, endTimeMs: startMs + 4 * hourMs };
  const first = await sumOf(range);
  await deleteUnmarked("e0");
  for (let at = 2; at < 6; at += 1) await sumOf({ ...range, startTimeMs: startMs + at });

  expect([first, await sumOf(range)]).toEqual([7, 6]);
});

describe("an answer is right after", () => {
  test.each([
    {
      name: "a late event",
      change: () => events.create(projectId, event("late", 1, 8)),
      want: 15,
    },
    {
      name: "an update",
      change: () => events.update(projectId, "e1", { metadata: { value: 10 } }),
      want: 15,
    },
    {
      name: "an update that moves an event to another hour",
      change: () => events.create(projectId, { ...event("e1", 5, 2), end_time: startMs + 9e7 }),
      want: 7,
    },
    {
      name: "an update that moves an event out of the range",
      change: () => events.create(projectId, event("e1", 50, 2)),
      want: 5,
    },
    { name: "a deletion", change: () => events.delete(projectId, "e2"), want: 3 },
    {
      name: "the deletion of a session",
      change: () => sessions.delete(projectId, "s e2"),
      want: 3,
    },
  ])("$name", async ({ change, want }) => {
    expect(await sum()).toBe(7);

    await change();

    expect(await sum()).toBe(want);
  });

  test("a score", async () => {
    const { database } = testDatabase;
    const metrics = createEventMetrics({ database, fields: createFieldCatalogue({ database }) });
    const score = (quality: number) =>
      database.transaction(async () => {
        const types = await metrics.lock(projectId, ["e1"]);
        await metrics.merge(projectId, types, [
          { eventId: "e1", metrics: { quality }, removed: [] },
        ]);
      });
    const best = async () => {
      const { series } = await charts.query(projectId, {
        kind: "scalar",
        startTimeMs: startMs,
        endTimeMs: startMs + 10 * hourMs,
        filters: [{ field: "event_type", operator: "is", value: "tool" }],
        measures: [{ metric: "metrics.quality", aggregation: "max" }],
      });
      return series[0]?.values[0];
    };
    await score(1);
    expect(await best()).toBe(1);

    await score(0.5);

    expect(await best()).toBe(0.5);
  });
});

test("events of the last hour are not marked", async () => {
  const count = async () => {
    const [row] = await testDatabase.database.sql()<{ count: number }[]>`
      select count(*)::integer as count from chart_marks where project_id = ${projectId}`;
    return row?.count;
  };
  const before = await count();

  await events.create(projectId, { ...event("now", 0, 1), start_time: Date.now() });

  expect(before).toBe(3);
  expect(await count()).toBe(before);
});
