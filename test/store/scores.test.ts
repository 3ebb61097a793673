// Scores against Postgres: each result once and together with the event's metrics, failures in a
// row, chunks that end before their time, and what can be asked about runs.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ProjectScope } from "../../src/access/scope.ts";
import { createUuid, type ProjectId } from "../../src/base/ids.ts";
import type { RunnableEvaluator } from "../../src/evaluation/metrics/definition.ts";
import type { ChunkKey, NewChunk, Scores } from "../../src/evaluation/scores/scores.ts";
import type { Clusters } from "../../src/postgres/clusters.ts";
import type { EventWrite } from "../../src/tracing/events/event.ts";
import type { WrittenListener } from "../../src/tracing/events/write-set.ts";
import { createEventArchive } from "../../src/tracing/archive/archive.ts";
import type { Tracing, TracingOfClusters } from "../../src/tracing/tracing.ts";
import { createMask } from "../../src/tracing/masking/mask.ts";
import { compileRules } from "../../src/tracing/masking/rules.ts";
import { everyTable, findIn } from "../support/every-table.ts";
import { givenTestDatabase, openTestClusters } from "../support/database.ts";
import { createTestProject } from "../support/project.ts";
import { aChunk, aFailure, anEvaluator, aScore, givenScoring } from "../support/scored.ts";

const testDatabase = givenTestDatabase();
let clusters: Clusters;
let tracingOfClusters: TracingOfClusters;
let tracing: Tracing;
let scores: Scores;
let projectId: ProjectId;
let project: Pick<ProjectScope, "projectId" | "clusterId">;
/** Events that the recorder told of. */
const told: string[] = [];

const listener: WrittenListener = {
  wants: () => true,
  onWritten(_sql, written) {
    told.push(...written.map(({ after }) => after.event_id));
    return Promise.resolve();
  },
};

beforeAll(async () => {
  clusters = openTestClusters(testDatabase.database);
  ({ tracing: tracingOfClusters, scores } = givenScoring(clusters, { listener, failuresMax: 3 }));
  projectId = await createTestProject(testDatabase.database);
  project = { projectId, clusterId: "default" };
  tracing = tracingOfClusters.of(project);
});

afterAll(async () => {
  await tracingOfClusters.drain();
  await clusters.close();
});

async function givenEvents(count: number, fields: Partial<EventWrite> = {}): Promise<string[]> {
  const session_id = createUuid();
  const ids = Array.from({ length: count }, () => createUuid());
  for (const [index, event_id] of ids.entries()) {
    const start_time = 1_700_000_000_000 + index;
    const input = { event_type: "tool", inputs: {}, source: "sdk", ...fields };
    await tracing.events.create(projectId, { ...input, event_id, session_id, start_time });
  }
  return ids;
}

/** Opens a chunk of events for an evaluator. */
async function givenChunk(evaluator: RunnableEvaluator, eventIds: readonly string[]) {
  const chunk = newChunk(evaluator);
  await scores.openChunk(project, chunk, { eventIds, includeFailed: false, skipped: 0 });
  return chunk;
}

function newChunk(evaluator: RunnableEvaluator, backfillId: string = createUuid()): NewChunk {
  const chunk = aChunk(evaluator);
  return { ...chunk, backfillId, workflowId: `evaluate-accuracy-v1-${chunk.chunkId}` };
}

async function metricsOf(eventId: string) {
  return (await tracing.events.get(projectId, eventId)).metrics;
}

describe("commitResults", () => {
  test("puts score and explanation on the event, beside what is there", async () => {
    const evaluator = anEvaluator(projectId);
    const [id = ""] = await givenEvents(1, { metrics: { speed: 3 } });
    const chunk = await givenChunk(evaluator, [id]);

    const got = await scores.commitResults(project, chunk, [aScore(id, 0.5, "half right")]);

    expect(got).toEqual({ committed: 1, failuresInRow: 0 });
    const metrics = { speed: 3, accuracy: 0.5, accuracy_explanation: "half right" };
    expect(await metricsOf(id)).toEqual(metrics);
    const counts = { events: 1, scored: 1, failed: 0, skipped: 0, isEnded: false };
    expect(await scores.countChunk(project, chunk.chunkId)).toEqual(counts);
  });

  test.each([
    { name: "a boolean", score: false },
    { name: "zero", score: 0 },
    { name: "a small number", score: 5e-324 },
    { name: "empty text", score: "" },
    { name: "text that Postgres refuses", score: "a\u0000b\ud800\uE000" },
  ])("keeps $name as it is", async ({ score }) => {
    const evaluator = anEvaluator(projectId);
    const [id = ""] = await givenEvents(1);
    const chunk = await givenChunk(evaluator, [id]);

    await scores.commitResults(project, chunk, [aScore(id, score, String(score))]);

    expect(await metricsOf(id)).toEqual({ accuracy: score, accuracy_explanation: String(score) });
    const [run] = await scores.runsOf(project, evaluator, id);
    expect(run).toMatchObject({ state: "scored", score, explanation: String(score) });
  });

  test("masks every text of a result before it is cut", async () => {
    const rules = compileRules([{ detector: "email" }]);
    const masked = givenScoring(clusters, { maskOf: async () => createMask(rules, "test") });
    const evaluator = anEvaluator(projectId);
    const [first = "", second = ""] = await givenEvents(2);
    const chunk = await givenChunk(evaluator, [first, second]);
    const address = "jane@secret.example";
    const answer = `rated ${address}`;
    const counts = { promptTokens: null, completionTokens: null, cost: null };
    const judge = { provider: "p", model: "m", answer, ...counts };
    const long = `${"x".repeat(9_990)} ${address}`;
    const score = { ...aScore(first, address, long).result, judge };

    await masked.scores.commitResults(project, chunk, [
      { eventId: first, result: score },
      aFailure(second, `no score in ${address}`),
    ]);

    expect(await metricsOf(first)).toEqual({
      accuracy: "[email]",
      accuracy_explanation: `${"x".repeat(9_990)} [email]`,
    });
    expect(await metricsOf(second)).toEqual({
      accuracy_failure: "EXCEPTION: no score in [email]",
    });
    expect(findIn(await everyTable(testDatabase.database), ["jane@"])).toEqual([]);
    await masked.tracing.drain();
  });

  test("counts a result once, however often it comes", async () => {
    const evaluator = anEvaluator(projectId);
    const [id = ""] = await givenEvents(1);
    const chunk = await givenChunk(evaluator, [id]);
    await scores.commitResults(project, chunk, [aScore(id, 1)]);

    const again = await scores.commitResults(project, chunk, [aScore(id, 2), aFailure(id)]);

    expect(again.committed).toBe(0);
    expect(await metricsOf(id)).toEqual({ accuracy: 1 });
    expect(await scores.countChunk(project, chunk.chunkId)).toMatchObject({ scored: 1, failed: 0 });
  });

  test("has one of many writers at the same time", async () => {
    const evaluator = anEvaluator(projectId);
    const ids = await givenEvents(20);
    const chunk = await givenChunk(evaluator, ids);

    const got = await Promise.all(
      [1, 2, 3, 4, 5].map((score) => {
        const order = score % 2 === 0 ? ids : ids.toReversed();
        return scores.commitResults(
          project,
          chunk,
          order.map((id) => aScore(id, score)),
        );
      }),
    );

    expect(got.reduce((sum, { committed }) => sum + committed, 0)).toBe(20);
    expect(await scores.countChunk(project, chunk.chunkId)).toMatchObject({ scored: 20 });
    for (const id of ids) {
      const [run] = await scores.runsOf(project, evaluator, id);
      expect((await metricsOf(id))["accuracy"]).toBe(run?.score);
    }
  });

  test("loses no score and no write where both are made at the same time", async () => {
    const ids = await givenEvents(10);
    const evaluators = ["a", "b", "c"].map((name) =>
      anEvaluator(projectId, { definition: { name } }),
    );
    const chunks = await Promise.all(evaluators.map((one) => givenChunk(one, ids)));

    await Promise.all([
      ...chunks.map((chunk) =>
        scores.commitResults(
          project,
          chunk,
          ids.map((id) => aScore(id, chunk.name)),
        ),
      ),
      ...ids.toReversed().map((id) => tracing.events.update(projectId, id, { metrics: { d: 1 } })),
    ]);

    for (const id of ids) {
      expect(await metricsOf(id)).toEqual({ a: "a", b: "b", c: "c", d: 1 });
    }
  });

  test("writes nothing for a chunk that lost its runs to another", async () => {
    const evaluator = anEvaluator(projectId);
    const [id = ""] = await givenEvents(1);
    const lost = await givenChunk(evaluator, [id]);
    await scores.endChunk(project, lost.chunkId, "requeue");
    const next = await givenChunk(evaluator, [id]);

    const late = await scores.commitResults(project, lost, [aScore(id, 1)]);
    await scores.commitResults(project, next, [aScore(id, 2)]);

    expect(late.committed).toBe(0);
    expect(await metricsOf(id)).toEqual({ accuracy: 2 });
  });

  test("says on the event in one line why a run failed", async () => {
    const evaluator = anEvaluator(projectId);
    const [id = ""] = await givenEvents(1);
    const chunk = await givenChunk(evaluator, [id]);
    const message = `first\n  second ${"x".repeat(2_000)}`;

    const got = await scores.commitResults(project, chunk, [aFailure(id, message)]);

    const text = `EXCEPTION: first second ${"x".repeat(2_000)}`.slice(0, 1_000);
    expect(await metricsOf(id)).toEqual({ accuracy_failure: text });
    expect(got).toEqual({ committed: 1, failuresInRow: 1, lastFailure: text });
    const [run] = await scores.runsOf(project, evaluator, id);
    expect(run).toMatchObject({ state: "failed", failure: text, score: undefined });
  });

  test("cuts an explanation between characters", async () => {
    const evaluator = anEvaluator(projectId);
    const [id = ""] = await givenEvents(1);
    const chunk = await givenChunk(evaluator, [id]);

    await scores.commitResults(project, chunk, [aScore(id, 1, `x${"🐝".repeat(6_000)}`)]);

    const { accuracy_explanation: text } = await metricsOf(id);
    expect(text).toBe(`x${"🐝".repeat(4_999)}`);
  });

  test("takes the failure and the old explanation back with a later score", async () => {
    const first = anEvaluator(projectId);
    const [id = ""] = await givenEvents(1);
    await scores.commitResults(project, await givenChunk(first, [id]), [aScore(id, 1, "why")]);
    const second = { ...first, version: 2 };
    await scores.commitResults(project, await givenChunk(second, [id]), [aFailure(id)]);
    expect(await metricsOf(id)).toEqual({
      accuracy: 1,
      accuracy_explanation: "why",
      accuracy_failure: "EXCEPTION: it broke",
    });
    const third = { ...first, version: 3 };

    await scores.commitResults(project, await givenChunk(third, [id]), [aScore(id, 2)]);

    expect(await metricsOf(id)).toEqual({ accuracy: 2 });
    const runs = await scores.runsOf(project, first, id);
    expect(runs.map(({ version, state }) => [version, state])).toEqual([
      [3, "scored"],
      [2, "failed"],
      [1, "scored"],
    ]);
  });

  test("passes by an event that was deleted meanwhile", async () => {
    const evaluator = anEvaluator(projectId);
    const [gone = "", there = ""] = await givenEvents(2);
    const chunk = await givenChunk(evaluator, [gone, there]);
    await tracing.events.delete(projectId, gone);

    const got = await scores.commitResults(project, chunk, [aScore(gone, 1), aScore(there, 1)]);

    expect(got.committed).toBe(1);
    expect(await scores.runsOf(project, evaluator, gone)).toEqual([]);
  });

  test("keeps nothing of an event that is skipped", async () => {
    const evaluator = anEvaluator(projectId);
    const [id = ""] = await givenEvents(1);
    const chunk = await givenChunk(evaluator, [id]);

    const got = await scores.commitResults(project, chunk, [
      { eventId: id, result: { kind: "skip" } },
    ]);

    expect(got.committed).toBe(1);
    expect(await scores.countChunk(project, chunk.chunkId)).toMatchObject({ skipped: 1 });
    expect(await scores.runsOf(project, evaluator, id)).toEqual([]);
  });

  test("records the fields of scores, and tells nobody of a write", async () => {
    const evaluator = anEvaluator(projectId, { definition: { name: "first.seen" } });
    const [id = ""] = await givenEvents(1);
    const chunk = await givenChunk(evaluator, [id]);
    told.length = 0;

    await scores.commitResults(project, chunk, [aScore(id, 0.25)]);

    expect(told).toEqual([]);
    expect(await tracing.exports.getSchema(projectId)).toContainEqual({
      name: "metrics.first.seen",
      eventType: "tool",
      type: "decimal",
    });
    const filter = { field: "metrics.first.seen", operator: "is", value: 0.25 };
    expect(await tracing.selection.matching(projectId, [id], [filter])).toEqual([id]);
  });

  test("changes nothing of an event but its metrics", async () => {
    const fields = {
      inputs: { text: "a\u0000b" },
      outputs: { list: [1, 2] },
      error: "e",
      metadata: { total_tokens: 3, cost: 0.5 },
      feedback: { ok: true },
    };
    const [id = ""] = await givenEvents(1, fields);
    const { metrics: _, ...before } = await tracing.events.get(projectId, id);
    const chunk = await givenChunk(anEvaluator(projectId), [id]);

    await scores.commitResults(project, chunk, [aScore(id, 1)]);

    const { metrics, ...after } = await tracing.events.get(projectId, id);
    expect(after).toEqual(before);
    expect(metrics).toEqual({ accuracy: 1 });
    const { totals } = await tracing.sessions.get(projectId, before.session_id);
    expect(totals).toMatchObject({ num_events: 1, total_tokens: 3, cost: 0.5 });
  });
});

describe("failures in a row", () => {
  async function runs(evaluator: RunnableEvaluator, outcomes: string) {
    const ids = await givenEvents(outcomes.length);
    const chunk = await givenChunk(evaluator, ids);
    const results = ids.map((id, at) => (outcomes[at] === "f" ? aFailure(id) : aScore(id, 1)));
    return (await scores.commitResults(project, chunk, results)).failuresInRow;
  }

  test("count over commits, and from none after a score", async () => {
    const evaluator = anEvaluator(projectId);

    expect(await runs(evaluator, "sf")).toBe(1);
    expect(await runs(evaluator, "f")).toBe(2);
    expect(await runs(evaluator, "s")).toBe(0);
    expect(await runs(evaluator, "ffs")).toBe(0);
    expect(await runs(evaluator, "sff")).toBe(2);
  });

  test("stay where they have reached the bound, also in the middle of a commit", async () => {
    const evaluator = anEvaluator(projectId);

    expect(await runs(evaluator, "fffs")).toBe(3);
    expect(await runs(evaluator, "s")).toBe(3);
    expect(await scores.failuresInRow(project, evaluator)).toMatchObject({ failuresInRow: 3 });
  });

  test("count afresh in another enablement", async () => {
    const evaluator = anEvaluator(projectId);
    await runs(evaluator, "fff");

    expect(await runs({ ...evaluator, enablement: 2, version: 2 }, "f")).toBe(1);
    expect(await scores.failuresInRow(project, { ...evaluator, enablement: 3 })).toEqual({
      failuresInRow: 0,
    });
  });

  test("of chunks at the same time are all counted", async () => {
    const evaluator = anEvaluator(projectId);

    await Promise.all([runs(evaluator, "f"), runs(evaluator, "f"), runs(evaluator, "f")]);

    expect(await scores.failuresInRow(project, evaluator)).toMatchObject({ failuresInRow: 3 });
  });
});

describe("openChunk", () => {
  const offered = (eventIds: readonly string[], includeFailed = false, skipped = 0) => ({
    eventIds,
    includeFailed,
    skipped,
  });

  test("takes what the version has not run on, once", async () => {
    const evaluator = anEvaluator(projectId);
    const ids = await givenEvents(3);
    const [done = ""] = ids;
    await scores.commitResults(project, await givenChunk(evaluator, [done]), [aScore(done, 1)]);
    const chunk = newChunk(evaluator);

    const got = await scores.openChunk(project, chunk, offered([...ids, "absent"], false, 5));
    const again = await scores.openChunk(project, chunk, offered([...ids, "absent"], false, 5));

    const want = { events: 2, scored: 0, failed: 0, skipped: 7, isEnded: false };
    expect(got).toEqual(want);
    expect(again).toEqual(want);
    expect(await scores.runningOf(project, chunk.chunkId)).toEqual(ids.slice(1));
  });

  test("takes what has failed only when asked to, and a score ends the failure", async () => {
    const evaluator = anEvaluator(projectId);
    const [id = ""] = await givenEvents(1);
    await scores.commitResults(project, await givenChunk(evaluator, [id]), [aFailure(id)]);
    const without = newChunk(evaluator);
    const chunk = newChunk(evaluator);

    const none = await scores.openChunk(project, without, offered([id]));
    const taken = await scores.openChunk(project, chunk, offered([id], true));

    expect(none).toMatchObject({ events: 0, skipped: 1, isEnded: true });
    expect(taken).toMatchObject({ events: 1, skipped: 0, isEnded: false });
    const [running] = await scores.runsOf(project, evaluator, id);
    expect(running).toMatchObject({ state: "running", failure: undefined });
    await scores.commitResults(project, chunk, [aScore(id, 1)]);
    expect(await metricsOf(id)).toEqual({ accuracy: 1 });
    const [run] = await scores.runsOf(project, evaluator, id);
    expect(run).toMatchObject({ state: "scored", score: 1, failure: undefined });
  });

  test("runs an event of another version beside the earlier one", async () => {
    const evaluator = anEvaluator(projectId);
    const [id = ""] = await givenEvents(1);
    await scores.commitResults(project, await givenChunk(evaluator, [id]), [aScore(id, 1)]);

    const got = await scores.openChunk(
      project,
      newChunk({ ...evaluator, version: 2 }),
      offered([id]),
    );

    expect(got.events).toBe(1);
  });

  test("adds up over the chunks of a backfill", async () => {
    const evaluator = anEvaluator(projectId);
    const backfillId = createUuid();
    const ids = await givenEvents(4);
    const [first = "", second = "", third = "", fourth = ""] = ids;
    const one = newChunk(evaluator, backfillId);
    const two = newChunk(evaluator, backfillId);
    await scores.openChunk(project, one, offered([first, second], false, 1));
    await scores.openChunk(project, two, offered([third, fourth]));

    await scores.commitResults(project, one, [aScore(first, 1), aFailure(second)]);
    await scores.commitResults(project, two, [aScore(third, 1)]);

    const want = { events: 4, scored: 2, failed: 1, skipped: 1 };
    expect(await scores.countBackfill(project, backfillId)).toEqual(want);
    expect(await scores.countBackfill(project, createUuid())).toEqual({
      events: 0,
      scored: 0,
      failed: 0,
      skipped: 0,
    });
  });
});

describe("endChunk", () => {
  test("queues what did not run again, or drops it", async () => {
    const evaluator = anEvaluator(projectId);
    const [kept = "", dropped = "", failed = ""] = await givenEvents(3);
    await scores.commitResults(project, await givenChunk(evaluator, [failed]), [aFailure(failed)]);
    const requeued = await givenChunk(evaluator, [kept]);
    const ended = newChunk(evaluator);
    await scores.openChunk(project, ended, {
      eventIds: [dropped, failed],
      includeFailed: true,
      skipped: 0,
    });

    for (let times = 0; times < 2; times += 1) {
      await scores.endChunk(project, requeued.chunkId, "requeue");
      await scores.endChunk(project, ended.chunkId, "drop");
    }

    const stateOf = async (id: string) =>
      (await scores.runsOf(project, evaluator, id)).map(({ state }) => state);
    expect(await stateOf(kept)).toEqual(["queued"]);
    expect(await stateOf(dropped)).toEqual([]);
    expect(await stateOf(failed)).toEqual(["failed"]);
    expect(await scores.countChunk(project, ended.chunkId)).toMatchObject({ isEnded: true });
    expect(await scores.dropQueued(project, evaluator.evaluatorId)).toBe(1);
    expect(await stateOf(kept)).toEqual([]);
  });

  test("of no chunk changes nothing", async () => {
    await scores.endChunk(project, createUuid(), "requeue");

    expect(await scores.countChunk(project, createUuid())).toBeUndefined();
  });
});

describe("countMetric", () => {
  test("counts what waits, runs and ended, and what judges cost", async () => {
    const evaluator = anEvaluator(projectId, { definition: { type: "LLM" } });
    const ids = await givenEvents(5);
    const [scored = "", failed = "", waiting = ""] = ids;
    await scores.endChunk(project, (await givenChunk(evaluator, [waiting])).chunkId, "requeue");
    const chunk: ChunkKey = await givenChunk(
      evaluator,
      ids.filter((id) => id !== waiting),
    );
    const judge = { provider: "openai", model: "gpt-4o", answer: "[[1]]", completionTokens: 2 };
    const priced = { ...judge, promptTokens: 10, cost: 0.25 };
    const unpriced = { ...judge, promptTokens: null, cost: null };
    await scores.commitResults(project, chunk, [
      {
        eventId: scored,
        result: { kind: "score", score: 1, explanation: undefined, output: "", judge: priced },
      },
      {
        eventId: failed,
        result: {
          kind: "failure",
          reason: "NO_SCORE",
          message: "none",
          output: "",
          judge: unpriced,
        },
      },
    ]);

    const got = await scores.countMetric(project, evaluator, new Date(Date.now() - 60_000));

    expect(got).toEqual({
      queued: 1,
      running: 2,
      oldestQueuedAt: expect.any(Date) as Date,
      scored: 1,
      failed: 1,
      failuresInRow: 1,
      lastFailure: "NO_SCORE: none",
      judgePromptTokens: 10,
      judgeCompletionTokens: 4,
      judgeCost: 0.25,
      judgeUnpriced: 1,
    });
    const [run] = await scores.runsOf(project, evaluator, scored);
    expect(run).toMatchObject({
      judge: priced,
      workflowId: `evaluate-accuracy-v1-${chunk.chunkId}`,
    });
    const later = await scores.countMetric(project, evaluator, new Date(Date.now() + 60_000));
    expect(later).toMatchObject({ queued: 1, scored: 0, judgeCost: 0 });
  });
});

test("scores go with their events: deleted alone, with their session, or archived", async () => {
  const evaluator = anEvaluator(projectId);
  const [alone = "", beside = ""] = await givenEvents(2);
  const [archived = ""] = await givenEvents(1);
  const ids = [alone, beside, archived];
  const chunk = await givenChunk(evaluator, ids);
  await scores.commitResults(
    project,
    chunk,
    ids.map((id) => aScore(id, 1)),
  );
  const left = async () => {
    const runs = ids.map((id) => scores.runsOf(project, evaluator, id));
    return (await Promise.all(runs)).map((ofOne) => ofOne.length);
  };

  await tracing.events.delete(projectId, alone);
  expect(await left()).toEqual([0, 1, 1]);
  const { session_id: sessionId } = await tracing.events.get(projectId, beside);
  await tracing.sessions.delete(projectId, sessionId);
  expect(await left()).toEqual([0, 0, 1]);
  await createEventArchive(() => testDatabase.database).moveSome(project);
  expect(await left()).toEqual([0, 0, 0]);
});

test("scores of one project are not those of another", async () => {
  const evaluator = anEvaluator(projectId);
  const [id = ""] = await givenEvents(1);
  const chunk = await givenChunk(evaluator, [id]);
  const other = { projectId: await createTestProject(testDatabase.database), clusterId: "default" };

  const got = await scores.commitResults(other, chunk, [aScore(id, 1)]);
  await scores.endChunk(other, chunk.chunkId, "drop");

  expect(got.committed).toBe(0);
  expect(await scores.runningOf(other, chunk.chunkId)).toEqual([]);
  expect(await scores.runsOf(other, evaluator, id)).toEqual([]);
  expect(await scores.runningOf(project, chunk.chunkId)).toEqual([id]);
});
