// The way from the commit of an event into annotation queues, against Postgres: each matching event
// comes in once, a full queue costs nothing else, and items go with their event.
// Source: docs/decisions.md, 45.1.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createLogger } from "../../src/base/logger.ts";
import { createUuid, type ProjectId } from "../../src/base/ids.ts";
import { itemsOfCallMax, openItemsOfQueueMax } from "../../src/base/tenant-limits.ts";
import type { RoutedEvaluator } from "../../src/evaluation/metrics/definition.ts";
import type { EvaluationQueue } from "../../src/evaluation/online/queue.ts";
import { createRouter } from "../../src/evaluation/online/router.ts";
import { createQueueItems, type QueueItems } from "../../src/evaluation/queues/items.ts";
import type { RoutedQueue } from "../../src/evaluation/queues/queues.ts";
import type { Scores } from "../../src/evaluation/scores/scores.ts";
import type { Clusters } from "../../src/postgres/clusters.ts";
import type { EventWrite } from "../../src/tracing/events/event.ts";
import { deleteEvent } from "../../src/tracing/events/store.ts";
import type { FilterInput } from "../../src/tracing/export/filter.ts";
import type { TracingOfClusters } from "../../src/tracing/tracing.ts";
import { givenTestDatabase, openTestClusters } from "../support/database.ts";
import { givenAProject } from "../support/project.ts";
import { anEvaluator, givenScoring } from "../support/scored.ts";
import type { ProjectScope } from "../../src/access/scope.ts";

const testDatabase = givenTestDatabase();
let clusters: Clusters;
let tracing: TracingOfClusters;
let scores: Scores;
let queue: EvaluationQueue;
let items: QueueItems;
let project: ProjectScope;
let projectId: ProjectId;
let queues: readonly RoutedQueue[];
let evaluators: readonly RoutedEvaluator[];

beforeAll(async () => {
  clusters = openTestClusters(testDatabase.database);
  const mayHaveEnabled = () => queues.length > 0;
  ({ tracing, scores, queue } = givenScoring(clusters, { mayHaveEnabled }));
  items = createQueueItems({ clusters, tracingOf: (place) => tracing.of(place) });
});

beforeEach(async () => {
  const local = await givenAProject(testDatabase.database, createUuid());
  project = { ...local, clusterId: "default" } as unknown as ProjectScope;
  ({ projectId } = project);
  [queues, evaluators] = [[], []];
});

afterAll(async () => {
  await tracing.drain();
  await clusters.close();
});

function given(...filterArray: readonly FilterInput[]): RoutedQueue {
  const made = { id: createUuid(), filters: { filterArray } };
  queues = [...queues, made];
  return made;
}

/** Routes waiting events until none is left; returns their number. */
async function route(): Promise<number> {
  const router = createRouter({
    clusters,
    scores,
    items,
    tracingOf: (place) => tracing.of(place),
    metrics: { enabledOf: () => Promise.resolve(evaluators) },
    queues: { enabledOf: () => Promise.resolve(queues) },
    runs: { findEnded: () => Promise.resolve([]) },
    logger: createLogger("silent"),
  });
  let routed = 0;
  for (;;) {
    const count = await router.route(project);
    if (count === 0) return routed;
    routed += count;
  }
}

async function write(ids: readonly string[], fields: Partial<EventWrite> = {}): Promise<void> {
  const written = ids.map((event_id, index) => ({
    index,
    input: { event_type: "tool", inputs: {}, source: "sdk", session_id: "s1", ...fields, event_id },
  }));
  await tracing.of(project).events.createBatch(projectId, written);
}

async function idsIn({ id }: RoutedQueue): Promise<string[]> {
  const page = await items.list(project, id, { limit: 1_000 });
  return page.items.map(({ eventId }) => eventId);
}

const ofModels: FilterInput = { field: "event_type", operator: "is", value: "model" };
const slow: FilterInput = { field: "metadata.slow", operator: "is", value: true };

describe("annotation queues", () => {
  test("get the events that match, each once however often it is written", async () => {
    const [models, slowOnes] = [given(ofModels), given(slow)];

    await write(["m1"], { event_type: "model" });
    await write(["t1"]);
    await route();
    await write(["m1"], { event_type: "model", metadata: { slow: true } });
    await route();

    expect(await idsIn(models)).toEqual(["m1"]);
    expect(await idsIn(slowOnes)).toEqual(["m1"]);
  });

  test("get them beside evaluators, which run on the same events", async () => {
    const models = given(ofModels);
    const evaluator = anEvaluator(projectId);
    evaluators = [evaluator];

    await write(["m1"], { event_type: "model" });
    await route();

    expect(await idsIn(models)).toEqual(["m1"]);
    expect(await scores.countMetric(project, evaluator, new Date(0))).toMatchObject({ queued: 2 });
  });

  test("get an event once from many routers", async () => {
    const models = given(ofModels);
    const ids = Array.from({ length: 50 }, (_, index) => `m${index}`);
    for (const id of ids) await write([id], { event_type: "model" });

    const routed = await Promise.all([route(), route(), route()]);

    if (routed.every((count) => count === 0)) await route();
    await route();
    expect((await idsIn(models)).toSorted()).toEqual(ids.toSorted());
  });

  test("keep removed events out, unless somebody names them", async () => {
    const models = given(ofModels);
    await write(["m1"], { event_type: "model" });
    await route();

    await items.remove(project, models.id, ["m1"]);
    await write(["m1"], { event_type: "model", metadata: { more: 1 } });
    await route();
    expect(await idsIn(models)).toEqual([]);

    await items.add(project, models.id, { eventIds: ["m1"], field: "event_ids" });
    expect(await idsIn(models)).toEqual(["m1"]);
  });

  test("whose filters fail, or that are full, hold up nothing else", async () => {
    const wrong = given({ field: "metadata.a", operator: "is", value: "b", type: "no type" });
    const full = given(ofModels);
    const models = given(ofModels);
    const sql = testDatabase.database.sql();
    await sql`
      insert into annotation_items (project_id, queue_id, event_id, state)
      select ${projectId}, ${full.id}::uuid, 'old ' || number, 'open'
      from generate_series(1, ${openItemsOfQueueMax - 1}::integer) as number`;

    await write(["m1", "m2"], { event_type: "model" });
    expect(await route()).toBe(3);

    expect(await idsIn(wrong)).toEqual([]);
    expect(await idsIn(models)).toEqual(["m1", "m2"]);
    const counts = await items.count(project, full.id);
    expect(counts).toMatchObject({ pending: openItemsOfQueueMax, passedOver: 1 });
    const more = items.add(project, full.id, { eventIds: ["m1", "m2"], field: "event_ids" });
    await expect(more).rejects.toMatchObject({
      message: expect.stringContaining("room for 0") as string,
    });
  });

  test("refuse too many events of one call, and events that are not there", async () => {
    const { id } = given();
    const many = Array.from({ length: itemsOfCallMax + 1 }, () => "e");

    for (const eventIds of [many, ["absent"]]) {
      const added = items.add(project, id, { eventIds, field: "event_ids" });
      await expect(added).rejects.toMatchObject({ reason: "INVALID_ARGUMENT" });
    }
  });

  test("lose the events that are deleted", async () => {
    const models = given(ofModels);
    await write(["m1", "m2"], { event_type: "model" });
    await route();

    await testDatabase.database.transaction((sql) => deleteEvent(sql, projectId, "m1"));

    expect(await idsIn(models)).toEqual(["m2"]);
  });

  test("cost a commit nothing where a project has none", async () => {
    await write(["m1"], { event_type: "model" });

    expect(await queue.waitsSince(project, "m1")).toBeUndefined();
  });
});
