// The way from the commit of an event to the workflow that evaluates it, against Postgres: queued
// rows, their evaluators and chunks; nothing is lost or doubled with many dispatchers.

import { AsyncResource } from "node:async_hooks";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createLogger } from "../../src/base/logger.ts";
import { createUuid, type ProjectId } from "../../src/base/ids.ts";
import { createScopes } from "../../src/controlplane/scopes/scopes.ts";
import type { LocalProject } from "../../src/controlplane/projects/local-projects.ts";
import type { RunnableEvaluator } from "../../src/evaluation/metrics/definition.ts";
import {
  createDispatcher,
  type DispatcherOptions,
} from "../../src/evaluation/online/dispatcher.ts";
import type { EvaluationQueue } from "../../src/evaluation/online/queue.ts";
import { insertQueuedRuns } from "../../src/evaluation/scores/queued-store.ts";
import { isSampled } from "../../src/evaluation/online/sampling.ts";
import type { Scores } from "../../src/evaluation/scores/scores.ts";
import type { EvaluateChunkInput, OutboxEntry } from "../../src/outbox/entry.ts";
import type { Clusters } from "../../src/postgres/clusters.ts";
import type { EventWrite } from "../../src/tracing/events/event.ts";
import type { TracingOfClusters } from "../../src/tracing/tracing.ts";
import {
  createDatabase,
  dropDatabase,
  givenTestDatabase,
  openTestClusters,
  templateName,
} from "../support/database.ts";
import { patience } from "../support/patience.ts";
import { givenAProject, givenASibling } from "../support/project.ts";
import { aChunk, aFailure, anEvaluator, aScore, givenScoring } from "../support/scored.ts";

const testDatabase = givenTestDatabase();
let clusters: Clusters;
let tracing: TracingOfClusters;
let scores: Scores;
let queue: EvaluationQueue;
let project: LocalProject;
let place: { readonly projectId: ProjectId; readonly clusterId: string };
/** All evaluators there are; a test adds its own. */
let evaluators: RunnableEvaluator[] = [];
/** What Temporal says of workflows. */
const states = new Map<string, "running" | "completed" | "failed" | "absent">();
/** Workflows that Temporal was asked to start, by id. */
const started = new Map<string, OutboxEntry>();
const client: DispatcherOptions["client"] = {
  start: async (entry) => void started.set(entry.workflowId, entry),
  getState: (workflowId) => Promise.resolve(states.get(workflowId) ?? "running"),
};

const enabledOf = (projectId: string) =>
  evaluators.filter((one) => one.projectId === projectId && one.definition.enabled_in_prod);

beforeAll(async () => {
  clusters = openTestClusters(testDatabase.database);
  const mayHaveEnabled = (projectId: string) => enabledOf(projectId).length > 0;
  ({ tracing, scores, queue } = givenScoring(clusters, { mayHaveEnabled }));
});

beforeEach(async () => {
  project = await givenAProject(testDatabase.database, createUuid());
  place = { projectId: project.projectId, clusterId: "default" };
});

afterAll(async () => {
  await tracing.drain();
  await clusters.close();
});

function given(
  fields: Parameters<typeof anEvaluator>[1] = {},
  projectId: ProjectId = project.projectId,
): RunnableEvaluator {
  const evaluator = anEvaluator(projectId, fields);
  evaluators.push(evaluator);
  return evaluator;
}

/** Changes an evaluator as it is in the database. */
function change(evaluator: RunnableEvaluator, changed: RunnableEvaluator | undefined): void {
  evaluators = evaluators.flatMap((one) => {
    if (one.evaluatorId !== evaluator.evaluatorId) return one;
    return changed ?? [];
  });
}

function aDispatcher(options: Partial<DispatcherOptions> = {}) {
  const { database } = testDatabase;
  return createDispatcher({
    clusters,
    scores,
    tracingOf: tracing.of,
    gatherMs: 0,
    client,
    queues: { enabledOf: () => Promise.resolve([]) },
    runs: { findEnded: () => Promise.resolve([]) },
    items: { addMatching: () => Promise.reject(new Error("no queue has filters in this test")) },
    scopes: createScopes(database),
    metrics: {
      enabledOf: (projectId) => Promise.resolve(enabledOf(projectId)),
      find: (projectId, id) =>
        Promise.resolve(
          evaluators.find((one) => one.projectId === projectId && one.evaluatorId === id),
        ),
    },
    logger: createLogger("silent"),
    ...options,
  });
}

async function write(
  count: number,
  fields: Partial<EventWrite> = {},
  projectId: ProjectId = project.projectId,
): Promise<string[]> {
  const session_id = createUuid();
  const ids = Array.from({ length: count }, () => createUuid());
  const items = ids.map((event_id, index) => ({
    index,
    input: { event_type: "tool", inputs: {}, source: "sdk", ...fields, event_id, session_id },
  }));
  await tracing.of(place).events.createBatch(projectId, items);
  return ids;
}

/** Ids of the runs of an evaluator, by state. */
async function runsOf({ evaluatorId }: RunnableEvaluator, state?: string): Promise<string[]> {
  const rows = await testDatabase.database.sql()<{ event_id: string }[]>`
    select event_id
    from scores
    where project_id = ${project.projectId} and evaluator_id = ${evaluatorId}
      and (${state ?? null}::text is null or state = ${state ?? null})`;
  return rows.map((row) => row.event_id).toSorted();
}

/** Workflows that were started to run an evaluator, in their order. */
function startedOf({ evaluatorId }: RunnableEvaluator) {
  return [...started.values()]
    .map(({ workflowId: id, input }) => ({ id, input: input as EvaluateChunkInput }))
    .filter(({ input }) => input.evaluatorId === evaluatorId);
}

async function queuedRows(): Promise<number> {
  const rows = await testDatabase.database.sql()`
    select 1
    from evaluation_queue
    where project_id = ${project.projectId}`;
  return rows.length;
}

/** The session of the events, which is an event as well. */
const isTool = { filterArray: [{ field: "event_type", operator: "is", value: "tool" }] };

describe("the queue", () => {
  test("has the events of a commit where an evaluator may run", async () => {
    given();
    await write(3);

    expect(await queuedRows()).toBe(1);
  });

  test("has nothing where none may", async () => {
    await write(3);

    expect(await queuedRows()).toBe(0);
  });

  test("has no event of source playground", async () => {
    given();
    await write(3, { source: "playground" });

    expect(await queuedRows()).toBe(0);
  });

  test("has nothing of a commit that is undone", async () => {
    given();
    const undone = testDatabase.database.transaction(async () => {
      await write(1);
      throw new Error("undone");
    });

    await expect(undone).rejects.toThrow("undone");
    expect(await queuedRows()).toBe(0);
  });

  test("has no event because of a score", async () => {
    const evaluator = given();
    const [id = ""] = await write(1);
    const dispatcher = aDispatcher();
    await dispatcher.turn();
    const [chunk] = startedOf(evaluator);

    const { chunkId } = chunk?.input ?? { chunkId: "" };
    await scores.commitResults(place, aChunk(evaluator, chunkId), [aScore(id, 1)]);

    expect(await queuedRows()).toBe(0);
  });
});

describe("routing", () => {
  test("queues each event for each evaluator whose filters it meets", async () => {
    const all = given({ definition: { filters: isTool } });
    const isProd = { field: "metadata.env", operator: "is", value: "prod" };
    const some = given({ definition: { filters: { filterArray: [isProd] } } });
    const prod = await write(2, { metadata: { env: "prod" } });
    const dev = await write(2, { metadata: { env: "dev" } });

    await aDispatcher().turn();

    expect(await runsOf(all)).toEqual([...prod, ...dev].toSorted());
    expect(await runsOf(some)).toEqual(prod.toSorted());
    expect(await queuedRows()).toBe(0);
  });

  test("queues the events that are sampled", async () => {
    const evaluator = given({ definition: { filters: isTool, sampling_percentage: 30 } });
    const ids = await write(200);

    await aDispatcher().turn();

    expect(await runsOf(evaluator)).toEqual(ids.filter((id) => isSampled(id, 30)).toSorted());
  });

  test("queues all matching events of an experiment run, whatever the sampling", async () => {
    const evaluator = given({ definition: { filters: isTool, sampling_percentage: 0 } });
    const isFailed = { field: "error", operator: "exists" };
    const other = given({ definition: { filters: { filterArray: [isFailed] } } });
    const ofRun = await write(5, { source: "evaluation", metadata: { run_id: createUuid() } });
    await write(5, { source: "evaluation" });
    await write(5, { source: "playground", metadata: { run_id: createUuid() } });
    await write(5, { metadata: { run_id: createUuid() } });

    await aDispatcher().turn();

    expect(await runsOf(evaluator)).toEqual(ofRun.toSorted());
    expect(await runsOf(other)).toEqual([]);
    expect(await queuedRows()).toBe(0);
  });

  test("looks again at an event that is written again, and runs on it once", async () => {
    const isDone = { field: "outputs.text", operator: "exists" };
    const evaluator = given({ definition: { filters: { filterArray: [isDone] } } });
    const [id = ""] = await write(1);
    const dispatcher = aDispatcher();
    await dispatcher.turn();
    expect(await runsOf(evaluator)).toEqual([]);

    for (const text of ["a", "b"]) {
      await tracing.of(place).events.update(project.projectId, id, { outputs: { text } });
      await dispatcher.turn();
    }

    expect(await runsOf(evaluator)).toEqual([id]);
    expect(startedOf(evaluator)).toHaveLength(1);
  });

  test("waits for ground truth where the evaluator reads it", async () => {
    const evaluator = given({ readsGroundTruth: true });
    const [id = "", other = ""] = await write(2, { event_type: "model" });
    const dispatcher = aDispatcher();
    await dispatcher.turn();
    expect(await runsOf(evaluator)).toEqual([]);

    await tracing.of(place).feedback.create(project.projectId, {
      generationId: id,
      task: "",
      items: {},
      groundTruth: "yes",
    });
    await tracing.of(place).events.update(project.projectId, other, {
      feedback: { ground_truth: null },
    });
    await dispatcher.turn();

    expect(await runsOf(evaluator)).toEqual([id]);
  });

  test("leaves out an event that an earlier version ran on", async () => {
    const evaluator = given({ definition: { filters: isTool } });
    const [id = ""] = await write(1);
    const dispatcher = aDispatcher();
    await dispatcher.turn();
    const [chunk] = startedOf(evaluator);
    const { chunkId } = chunk?.input ?? { chunkId: "" };
    await scores.commitResults(place, aChunk(evaluator, chunkId), [aFailure(id)]);
    change(evaluator, { ...evaluator, version: 2 });

    await tracing.of(place).events.update(project.projectId, id, { outputs: { text: "x" } });
    await dispatcher.turn();

    expect(await runsOf(evaluator, "queued")).toEqual([]);
    expect(await runsOf(evaluator, "failed")).toEqual([id]);
  });

  test("goes on where the filters of one evaluator cannot be applied", async () => {
    const broken = { field: "inputs.x", operator: "resembles", value: "y" };
    const one = given({ definition: { filters: { filterArray: [broken] } } });
    const other = given({ definition: { filters: isTool } });
    const ids = await write(2);

    await aDispatcher().turn();

    expect(await runsOf(one)).toEqual([]);
    expect(await runsOf(other)).toEqual(ids.toSorted());
  });

  test("goes on where the filters of one evaluator take too long", async () => {
    const text = "x".repeat(1_000_000);
    const slow = Array.from({ length: 100 }, (_, index) => {
      return { field: "inputs.text", operator: "not contains", value: `absent ${index}` };
    });
    const one = given({ definition: { filters: { filterArray: slow } } });
    const other = given({ definition: { filters: isTool } });
    const ids = await write(40, { inputs: { text } });

    await aDispatcher({ filterMsMax: 1_000 }).turn();

    expect(await runsOf(one)).toEqual([]);
    expect(await runsOf(other)).toEqual(ids.toSorted());
    expect(await queuedRows()).toBe(0);
  });

  test("goes on for other organizations while the work for one takes long", async () => {
    const stuck = await givenAProject(testDatabase.database, createUuid());
    given({}, stuck.projectId);
    await write(1, {}, stuck.projectId);
    const evaluator = given({ definition: { filters: isTool } });
    const [id = ""] = await write(1);
    const released = Promise.withResolvers<void>();
    const dispatcher = aDispatcher({
      metrics: {
        async enabledOf(projectId) {
          if (projectId === stuck.projectId) await released.promise;
          return enabledOf(projectId);
        },
        find: () => Promise.resolve(evaluator),
      },
    });

    for (let runs: string[] = []; runs.length === 0; runs = await runsOf(evaluator)) {
      await dispatcher.turn(50);
    }

    expect(await runsOf(evaluator)).toEqual([id]);
    released.resolve();
    await dispatcher.stop();
  });

  test("keeps nobody from writing the events meanwhile", async () => {
    const evaluator = given({ definition: { filters: isTool } });
    const [id = ""] = await write(1);
    // Sent over another connection than the one that holds the event.
    const update = AsyncResource.bind(() =>
      tracing.of(place).events.update(project.projectId, id, { outputs: { text: "x" } }),
    );

    await testDatabase.database.transaction(async (sql) => {
      await insertQueuedRuns(sql, evaluator, [{ eventId: id, queuedAt: new Date() }]);
      await update();
    });

    expect(await runsOf(evaluator)).toEqual([id]);
  });

  test("passes by deleted events, and empties the queue of an archived project", async () => {
    const evaluator = given({ definition: { filters: isTool } });
    const [gone = "", there = ""] = await write(2);
    await tracing.of(place).events.delete(project.projectId, gone);
    await aDispatcher().turn();
    expect(await runsOf(evaluator)).toEqual([there]);

    await write(2);
    await testDatabase.database.sql()`
      update projects set archived_at = now()
      where project_id = ${project.projectId}`;
    await aDispatcher().turn();

    expect(await queuedRows()).toBe(0);
    expect(await runsOf(evaluator)).toEqual([there]);
  });
});

describe("chunks", () => {
  test("have their workflow started, with ids and nothing of the events", async () => {
    const evaluator = given({ definition: { filters: isTool, name: "Is it right?" } });
    const ids = await write(3, { inputs: { secret: "payload" } });

    await aDispatcher().turn();

    const [handed, ...others] = startedOf(evaluator);
    const { chunkId = "" } = handed?.input ?? {};
    expect(others).toEqual([]);
    expect(handed?.id).toBe(`evaluate-is-it-right-v1-${chunkId}`);
    expect(handed?.input).toEqual({
      projectId: project.projectId,
      orgId: project.orgId,
      chunkId,
      events: 3,
      evaluatorId: evaluator.evaluatorId,
      evaluatorName: "Is it right?",
      version: 1,
      enablement: 1,
      actor: "system evaluation",
    });
    expect((await scores.runningOf(place, chunkId)).toSorted()).toEqual(ids.toSorted());
  });

  test("of an evaluator are one at a time, and the next has what gathered", async () => {
    const evaluator = given({ definition: { filters: isTool } });
    const dispatcher = aDispatcher();
    await write(1);
    await dispatcher.turn();
    await write(2);
    await dispatcher.turn();
    await write(3);
    await dispatcher.turn();
    const [first] = startedOf(evaluator);
    expect(startedOf(evaluator)).toHaveLength(1);

    await scores.endChunk(place, first?.input.chunkId ?? "", "drop");
    await dispatcher.turn();

    const handed = startedOf(evaluator);
    expect(handed.map(({ input }) => input.events)).toEqual([1, 5]);
  });

  test("are made no faster than the least time between two, unless they are full", async () => {
    const evaluator = given({ definition: { filters: isTool } });
    const dispatcher = aDispatcher({ gatherMs: 3_600_000, chunkEventsMax: 3 });
    await write(1);
    await dispatcher.turn();
    const [first] = startedOf(evaluator);
    await scores.endChunk(place, first?.input.chunkId ?? "", "drop");
    await write(2);
    await dispatcher.turn();
    expect(startedOf(evaluator)).toHaveLength(1);

    await write(2);
    await dispatcher.turn();

    const handed = startedOf(evaluator);
    expect(handed.map(({ input }) => input.events)).toEqual([1, 3, 1]);
  });

  test("are two where more waits than one takes, and eight in a project", async () => {
    const many = Array.from({ length: 5 }, (_, index) =>
      given({ definition: { filters: isTool, name: `m${index}` } }),
    );
    await write(10);
    const dispatcher = aDispatcher({ chunkEventsMax: 3 });

    await dispatcher.turn();
    await dispatcher.turn();

    const counts = many.map((one) => startedOf(one).length);
    expect(counts.toSorted()).toEqual([0, 2, 2, 2, 2]);
  });

  test("are 32 in an organization, however many projects it has", async () => {
    const { database } = testDatabase;
    const projects = [project.projectId];
    for (let index = 1; index < 5; index += 1) {
      projects.push((await givenASibling(database, project)).projectId);
    }
    const made = projects.flatMap((projectId) =>
      Array.from({ length: 8 }, () => given({ definition: { filters: isTool } }, projectId)),
    );
    for (const projectId of projects) await write(1, {}, projectId);
    const dispatcher = aDispatcher();

    await dispatcher.turn();
    await dispatcher.turn();

    const counts = made.map((one) => startedOf(one).length);
    expect(counts.filter((count) => count === 1)).toHaveLength(32);
    expect(counts.filter((count) => count === 0)).toHaveLength(8);
  });

  test("are made of what waits longest, so that no evaluator is left behind", async () => {
    const many = Array.from({ length: 10 }, () => given({ definition: { filters: isTool } }));
    const dispatcher = aDispatcher();
    await write(1);
    await dispatcher.turn();
    // All have more to do by the time that the places are free again.
    await write(1);
    for (const { input } of many.flatMap(startedOf)) {
      await scores.endChunk(place, input.chunkId, "drop");
    }

    await dispatcher.turn();

    const counts = many.map((one) => startedOf(one).length);
    expect(counts.filter((count) => count === 0)).toEqual([]);
  });

  test("that ended long ago go as new ones are made, those of backfills aside", async () => {
    const evaluator = given({ definition: { filters: isTool } });
    const dispatcher = aDispatcher();
    const sql = testDatabase.database.sql();
    const chunksOf = async () => {
      const rows = await sql<{ id: string }[]>`
        select chunk_id as id
        from evaluation_chunks
        where project_id = ${project.projectId}
        order by created_at`;
      return rows.map(({ id }) => id);
    };
    const made: string[] = [];
    for (const backfillId of [null, createUuid(), null]) {
      await write(1);
      await dispatcher.turn();
      const id = (await chunksOf()).at(-1) ?? "";
      made.push(id);
      await scores.endChunk(place, id, "drop");
      await sql`
        update evaluation_chunks
        set backfill_id = ${backfillId}, created_at = now() - interval '31 days'
        where project_id = ${project.projectId} and chunk_id = ${id} and ${made.length} < 3`;
    }
    const [old, ofBackfill, young] = made;
    expect(await chunksOf()).not.toContain(old);

    await write(1);
    await dispatcher.turn();

    const kept = await chunksOf();
    expect(kept.slice(0, 2)).toEqual([ofBackfill, young]);
    expect(kept).toHaveLength(3);
    expect(startedOf(evaluator)).toHaveLength(4);
  });

  test("are made for other projects whatever one has under way", async () => {
    const busy = given({ definition: { filters: isTool } });
    await write(5);
    await aDispatcher({ chunkEventsMax: 2 }).turn();
    const other = await givenAProject(testDatabase.database, createUuid());
    const evaluator = given({ definition: { filters: isTool } }, other.projectId);
    await write(1, {}, other.projectId);

    await aDispatcher({ chunkEventsMax: 2 }).turn();

    expect(startedOf(busy)).toHaveLength(2);
    expect(startedOf(evaluator)).toHaveLength(1);
  });

  test("are started again where a dispatcher died before it had started them", async () => {
    const evaluator = given({ definition: { filters: isTool } });
    await write(1);
    const start = () => Promise.reject(new Error("died"));
    await aDispatcher({ client: { ...client, start } }).turn();
    expect(startedOf(evaluator)).toEqual([]);
    expect(await runsOf(evaluator, "running")).toHaveLength(1);

    await aDispatcher().turn();
    await aDispatcher().turn();

    expect(startedOf(evaluator)).toHaveLength(1);
  });

  test("that cannot be started are logged once, until they can be", async () => {
    const lines: string[] = [];
    const logger = {
      ...createLogger("silent"),
      warn: (_: unknown, text?: string) => void lines.push(`warn: ${text}`),
      info: (_: unknown, text?: string) => void lines.push(`info: ${text}`),
    };
    let isAway = true;
    const start: typeof client.start = (entry) =>
      isAway ? Promise.reject(new Error("away")) : client.start(entry);
    given();
    const dispatcher = aDispatcher({ client: { ...client, start }, logger });

    for (let turn = 0; turn < 3; turn += 1) {
      await write(1);
      await dispatcher.turn();
    }
    isAway = false;
    await dispatcher.turn();

    expect(lines).toEqual(["warn: evaluators cannot run now", "info: evaluators run again"]);
  });

  test("that can be made do not say that routing, which fails, runs again", async () => {
    const lines: string[] = [];
    const logger = {
      ...createLogger("silent"),
      warn: (_: unknown, text?: string) => void lines.push(`warn: ${text}`),
      info: (_: unknown, text?: string) => void lines.push(`info: ${text}`),
    };
    let isAway = false;
    const enabledOf = () => (isAway ? Promise.reject(new Error("away")) : Promise.resolve([]));
    const evaluator = given({ definition: { filters: isTool } });
    const dispatcher = aDispatcher({ queues: { enabledOf }, logger });
    for (let turn = 0; turn < 2; turn += 1) {
      await write(1);
      await dispatcher.turn();
    }
    expect(await runsOf(evaluator, "queued")).toHaveLength(1);
    await write(1);

    isAway = true;
    for (let turn = 0; turn < 3; turn += 1) await dispatcher.turn();
    expect(lines).toEqual(["warn: evaluators cannot run now"]);
    isAway = false;
    await dispatcher.turn();

    expect(lines).toEqual(["warn: evaluators cannot run now", "info: evaluators run again"]);
  });

  test("are not made for what is disabled or deleted: it is dropped", async () => {
    const disabled = given({ definition: { filters: isTool } });
    const deleted = given({ definition: { filters: isTool } });
    await write(2);
    // Routed, and then nothing more may be under way.
    const dispatcher = aDispatcher();
    await dispatcher.turn();
    await write(2);
    await dispatcher.turn();
    expect(await runsOf(disabled, "queued")).toHaveLength(2);
    const { definition } = disabled;
    change(disabled, { ...disabled, definition: { ...definition, enabled_in_prod: false } });
    change(deleted, undefined);

    await dispatcher.turn();

    expect(await runsOf(disabled, "queued")).toEqual([]);
    expect(await runsOf(deleted, "queued")).toEqual([]);
    expect(await runsOf(disabled, "running")).toHaveLength(2);
  });

  test("have the version that is deployed, for what waited under an earlier one, too", async () => {
    const evaluator = given({ definition: { filters: isTool } });
    const dispatcher = aDispatcher();
    await write(1);
    await dispatcher.turn();
    const waiting = await write(2);
    await dispatcher.turn();
    const [first] = startedOf(evaluator);
    change(evaluator, { ...evaluator, version: 2, enablement: 2 });
    await scores.endChunk(place, first?.input.chunkId ?? "", "drop");

    for (let turns = 0; turns < 3; turns += 1) await dispatcher.turn();

    const [, second] = startedOf(evaluator);
    expect(second?.input).toMatchObject({ version: 2, enablement: 2, events: 2 });
    expect(await runsOf(evaluator, "running")).toEqual(waiting.toSorted());
  });
});

describe("lost chunks", () => {
  test.each(["failed", "completed", "absent"] as const)(
    "run again when their workflow is %s",
    async (state) => {
      const evaluator = given({ definition: { filters: isTool } });
      const ids = await write(2);
      const dispatcher = aDispatcher({ stillMs: 0, lostPollMs: 0 });
      await dispatcher.turn();
      const [first] = startedOf(evaluator);
      states.set(first?.id ?? "", state);

      await dispatcher.turn();
      await dispatcher.turn();

      const [, second] = startedOf(evaluator);
      const { chunkId = "" } = second?.input ?? {};
      expect((await scores.runningOf(place, chunkId)).toSorted()).toEqual(ids.toSorted());
      expect(await scores.countChunk(place, first?.input.chunkId ?? "")).toMatchObject({
        isEnded: true,
      });
    },
  );

  test("are looked for once they have not moved for a minute", async () => {
    const evaluator = given({ definition: { filters: isTool } });
    await write(1);
    const dispatcher = aDispatcher({ lostPollMs: 0 });
    await dispatcher.turn();
    const [first] = startedOf(evaluator);
    states.set(first?.id ?? "", "absent");
    await testDatabase.database.sql()`
      update evaluation_chunks set moved_at = now() - interval '1 minute'
      where chunk_id = ${first?.input.chunkId ?? ""}`;

    await dispatcher.turn();
    await dispatcher.turn();

    expect(startedOf(evaluator)).toHaveLength(2);
  });

  test("are none while their workflow runs or nobody can be asked", async () => {
    const evaluator = given({ definition: { filters: isTool } });
    await write(1);
    const options = { stillMs: 0, lostPollMs: 0 };
    await aDispatcher(options).turn();
    await aDispatcher(options).turn();
    const getState = () => Promise.reject(new Error("Temporal is away"));
    await aDispatcher({ ...options, client: { ...client, getState } }).turn();

    expect(startedOf(evaluator)).toHaveLength(1);
    expect(await runsOf(evaluator, "running")).toHaveLength(1);
  });
});

test("runs of another cluster's project are there, and their workflows are started", async () => {
  const { database } = testDatabase;
  const url = await createDatabase(templateName);
  const both = openTestClusters(database, { eu: url });
  await both.firstLook();
  const there = givenScoring(both, { mayHaveEnabled: () => true });
  try {
    await database.sql()`
      update dataplanes set cluster_id = 'eu' where dataplane_id = ${project.dataplaneId}`;
    const inEu = { projectId: project.projectId, clusterId: "eu" };
    const evaluator = given({ definition: { filters: isTool } });
    const id = await there.tracing
      .of(inEu)
      .events.create(project.projectId, { event_type: "tool", inputs: {}, source: "sdk" });

    await aDispatcher({ clusters: both, scores: there.scores, tracingOf: there.tracing.of }).turn();

    const [handed] = startedOf(evaluator);
    expect(await there.scores.runningOf(inEu, handed?.input.chunkId ?? "")).toEqual([id]);
    expect(await runsOf(evaluator)).toEqual([]);
  } finally {
    await there.tracing.drain();
    await both.close();
    await dropDatabase(url);
  }
});

test("many dispatchers at the same time lose no event and give out none twice", async () => {
  const three = ["a", "b", "c"].map((name) => given({ definition: { name, filters: isTool } }));
  const dispatchers = Array.from({ length: 4 }, () => aDispatcher({ chunkEventsMax: 40 }));
  const batches = Array.from({ length: 10 }, () => write(50));
  const ids = (await Promise.all(batches)).flat().toSorted();
  const handedOut = new Map(three.map(({ evaluatorId }) => [evaluatorId, [] as string[]]));

  for (let rounds = 0; rounds < 100; rounds += 1) {
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.turn()));
    let isDone = true;
    for (const evaluator of three) {
      const seen = handedOut.get(evaluator.evaluatorId) ?? [];
      for (const { input } of startedOf(evaluator)) {
        const running = await scores.runningOf(place, input.chunkId);
        if (running.length === 0) continue;
        const results = running.map((id) => aScore(id, 1));
        await scores.commitResults(place, aChunk(evaluator, input.chunkId), results);
        await scores.endChunk(place, input.chunkId, "drop");
        seen.push(...running);
      }
      isDone &&= seen.length >= ids.length;
    }
    if (isDone) break;
  }

  for (const evaluator of three) {
    expect(handedOut.get(evaluator.evaluatorId)?.toSorted()).toEqual(ids);
    expect(await runsOf(evaluator, "scored")).toEqual(ids);
  }
});

test("operators see how much waits, and since when", async () => {
  const evaluator = given({ definition: { filters: isTool } });
  const before = await queue.stats();
  await write(3);
  await testDatabase.database.sql()`
    update evaluation_queue set queued_at = now() - interval '1 hour'
    where project_id = ${project.projectId}`;

  const queued = await queue.stats();

  // The session is an event as well.
  expect(queued.queuedEvents).toBe(before.queuedEvents + 4);
  expect(queued.oldestQueuedAgeSeconds).toBeGreaterThanOrEqual(3_600);
  await aDispatcher().turn();
  await scores.endChunk(place, startedOf(evaluator)[0]?.input.chunkId ?? "", "requeue");
  const routed = await queue.stats();
  expect(routed.queuedEvents).toBe(before.queuedEvents + 3);
  expect(routed.oldestQueuedAgeSeconds).toBeGreaterThanOrEqual(3_600);
});

test("a dispatcher that follows takes turns by itself until it is stopped", async () => {
  const evaluator = given({ definition: { filters: isTool } });
  const dispatcher = aDispatcher({ busyPollMs: 10, idlePollMs: 10 });
  dispatcher.follow();

  await write(1);

  await expect.poll(() => startedOf(evaluator), patience).toHaveLength(1);
  await dispatcher.stop();
  await write(1);
  expect(await queuedRows()).toBe(1);
});
