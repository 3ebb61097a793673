// A chunk of events in steps, against Postgres: commits, the chunk's end, and events that go back
// to the queue. Each test gives the judge's answers.

import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import type { ProjectScope } from "../../src/access/scope.ts";
import { ServiceError } from "../../src/base/errors.ts";
import { createUuid } from "../../src/base/ids.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { createLogger } from "../../src/base/logger.ts";
import { createChunks } from "../../src/evaluation/scores/run-chunk.ts";
import type { ChunksOptions } from "../../src/evaluation/scores/run-chunk.ts";
import { createFairPlaces } from "../../src/base/fair-places.ts";
import { createEventMemory } from "../../src/evaluation/runner/event-memory.ts";
import type { RunResult } from "../../src/evaluation/runner/runner.ts";
import type { CommittedScores } from "../../src/observability/metrics.ts";
import type { EvaluateChunkInput } from "../../src/outbox/entry.ts";
import { givenStarted } from "../support/given.ts";
import { actor, startEvaluation } from "../support/evaluation.ts";
import { anEvent, insertEvents } from "../support/events.ts";

const own = givenStarted(startEvaluation);
let project: ProjectScope;

beforeAll(async () => {
  project = await own.aProject();
});

const score: RunResult = { kind: "score", score: 4, explanation: "short", output: "" };
const failure: RunResult = { kind: "failure", reason: "NO_SCORE", message: "none", output: "" };

const places = { max: 2, orgMax: 1, projectMax: 1, waitMs: 1, waitersMax: 10, refusal: "no place" };

type Run = (event: JsonObject) => Promise<RunResult>;

function chunksOf(run: Run, options: Partial<ChunksOptions> = {}) {
  const { scopes, metrics, scores, tracingOf, runs } = own;
  const closed = { count: 0 };
  const close = async () => void (closed.count += 1);
  const chunks = createChunks({
    scopes,
    metrics,
    scores,
    tracingOf,
    backfills: runs,
    failuresMax: 10,
    pauseMs: 1,
    runner: { open: async () => ({ concurrency: 1, run, isWanted: () => false, close }) },
    places: createFairPlaces(places),
    judgePlaces: createFairPlaces(places),
    eventMemory: createEventMemory(),
    lingerMs: 0,
    logger: createLogger("silent"),
    ...options,
  });
  return { ...chunks, closed };
}

/** Makes an evaluator that is enabled, and a chunk of events for it. */
async function givenAChunk(events: number): Promise<EvaluateChunkInput> {
  const evaluatorId = await own.aJudge(project, { enabled_in_prod: true });
  const evaluator = await own.metrics.get(project.projectId, evaluatorId);
  const { version, enablement, definition } = evaluator;
  const chunkId = createUuid();
  const all = Array.from({ length: events }, () => anEvent({ metrics: { before: 1 } }));
  await insertEvents(own.database, project.projectId, all);
  const sql = own.database.sql();
  const { projectId, orgId } = project;
  await sql`
    insert into evaluation_chunks (
      project_id, chunk_id, evaluator_id, evaluator_name, version, enablement, workflow_id, events)
    values (
      ${projectId}, ${chunkId}, ${evaluatorId}, ${definition.name}, ${version}, ${enablement},
      ${chunkId}, ${events})`;
  await sql`
    insert into scores (
      project_id, event_id, evaluator_id, version, state, enablement, chunk_id)
    select ${projectId}, id, ${evaluatorId}, ${version}, 'running', ${enablement}, ${chunkId}
    from unnest(${all.map(({ event_id: id }) => id)}::text[]) as id`;
  return {
    projectId,
    orgId,
    chunkId,
    evaluatorId,
    version,
    enablement,
    events,
    evaluatorName: definition.name,
    actor: "a test",
  };
}

/** Has more events wait for a chunk's version. */
async function queueMore(input: EvaluateChunkInput, events: number): Promise<void> {
  const { evaluatorId, version, enablement } = input;
  const all = Array.from({ length: events }, () => anEvent({}));
  await insertEvents(own.database, project.projectId, all);
  await own.database.sql()`
    insert into scores (project_id, event_id, evaluator_id, version, state, enablement)
    select ${project.projectId}, id, ${evaluatorId}, ${version}, 'queued', ${enablement}
    from unnest(${all.map(({ event_id: id }) => id)}::text[]) as id`;
}

/** States of the runs of a chunk's evaluator. */
async function statesOf({ evaluatorId }: EvaluateChunkInput): Promise<Record<string, number>> {
  const rows = await own.database.sql()<{ state: string; count: number }[]>`
    select state, count(*)::integer as count
    from scores
    where project_id = ${project.projectId} and evaluator_id = ${evaluatorId}
    group by state`;
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}

async function metricsOf({ evaluatorId }: EvaluateChunkInput): Promise<readonly JsonObject[]> {
  const rows = await own.database.sql()<{ metrics: JsonObject }[]>`
    select metrics
    from events
    where project_id = ${project.projectId}
      and event_id in (select event_id from scores where evaluator_id = ${evaluatorId})`;
  return rows.map(({ metrics }) => metrics);
}

function step(chunks: Pick<ReturnType<typeof createChunks>, "runStep">, input: EvaluateChunkInput) {
  return chunks.runStep(input, { signal: new AbortController().signal });
}

describe("a step of a chunk", () => {
  test("commits scores into runs and metrics, and ends the chunk with the last", async () => {
    const input = await givenAChunk(120);
    const told: CommittedScores[] = [];
    const chunks = chunksOf(async () => score, { onScores: (scores) => told.push(scores) });

    const got = await step(chunks, input);

    expect(got).toMatchObject({
      counts: { events: 120, scored: 120, failed: 0, skipped: 0 },
      end: { kind: "done" },
    });
    const name = input.evaluatorName;
    const want = { before: 1, [name]: 4, [`${name}_explanation`]: "short" };
    expect(new Set((await metricsOf(input)).map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify(want)]),
    );
    expect(told).toEqual([100, 20].map((scored) => ({ type: "LLM", scored, failed: {} })));
    expect(chunks.closed.count).toBe(1);
  });

  test("takes on what is queued while it runs, up to a thousand events in all", async () => {
    const input = await givenAChunk(998);
    await queueMore(input, 4);
    const chunks = chunksOf(async () => score, { lingerMs: 30_000 });

    const got = await step(chunks, input);

    expect(got).toMatchObject({ counts: { events: 1_000, scored: 1_000 } });
    expect(await statesOf(input)).toEqual({ scored: 1_000, queued: 2 });
  });

  test("steps aside while its organization has as many places as it may", async () => {
    const input = await givenAChunk(2);
    const taken = createFairPlaces(places);
    const leave = await taken.enter({ orgId: project.orgId, projectId: createUuid() });
    const chunks = chunksOf(async () => score, { judgePlaces: taken });

    const aside = await step(chunks, input);
    leave();
    const got = await step(chunks, input);

    expect(aside).toEqual({
      counts: expect.objectContaining({ events: 2, scored: 0 }) as unknown,
      pauseMs: expect.any(Number) as number,
    });
    expect(got).toMatchObject({ counts: { events: 2, scored: 2 }, end: { kind: "done" } });
    expect(got.pauseMs).toBeUndefined();
  });

  test("of a judge waits for judges of others, and for none of their code", async () => {
    const input = await givenAChunk(2);
    const taken = createFairPlaces({ ...places, max: 1 });
    await taken.enter({ orgId: createUuid(), projectId: createUuid() });

    const waits = await step(
      chunksOf(async () => score, { judgePlaces: taken }),
      input,
    );
    const goesOn = await step(
      chunksOf(async () => score, { places: taken }),
      input,
    );

    expect(waits.pauseMs).toBeGreaterThan(0);
    expect(goesOn).toMatchObject({ counts: { events: 2, scored: 2 }, end: { kind: "done" } });
  });

  test("takes nothing on where another evaluator waits for its place", async () => {
    const input = await givenAChunk(1);
    await queueMore(input, 1);
    const isWanted = () => true;
    const opened = { concurrency: 1, run: async () => score, isWanted, close: async () => {} };
    const chunks = chunksOf(async () => score, {
      lingerMs: 30_000,
      runner: { open: async () => opened },
    });

    const got = await step(chunks, input);

    expect(got).toMatchObject({ counts: { events: 1, scored: 1 }, end: { kind: "done" } });
    expect(await statesOf(input)).toEqual({ scored: 1, queued: 1 });
  });

  test("leaves the rest to the next one when its time is over; nothing runs twice", async () => {
    const input = await givenAChunk(3);
    const ran: unknown[] = [];
    const chunks = chunksOf(
      async ({ event_id: id }) => {
        ran.push(id);
        return score;
      },
      { stepMs: -1 },
    );

    const first = await step(chunks, input);
    await step(chunks, input);
    const third = await step(chunks, input);
    const again = await step(chunks, input);

    expect(first.counts.scored).toBe(1);
    expect(first.end).toBeUndefined();
    expect(third.end).toEqual({ kind: "done" });
    expect(again).toEqual(third);
    expect(new Set(ran).size).toBe(3);
    expect(ran).toHaveLength(3);
  });

  test("has its whole time after the first event, which waits for a process", async () => {
    const input = await givenAChunk(20);
    const stepMs = 2_000;
    let ran = 0;
    const chunks = chunksOf(
      async () => {
        ran += 1;
        if (ran === 1) await delay(stepMs + 50);
        return score;
      },
      { stepMs },
    );

    const got = await step(chunks, input);

    expect(got).toMatchObject({ counts: { scored: 20 }, end: { kind: "done" } });
  });

  test("commits what has run before it is stopped, and gives the rest back", async () => {
    const input = await givenAChunk(5);
    const stopping = new AbortController();
    const reason = new Error("cancelled");
    let count = 0;
    const chunks = chunksOf(async () => {
      count += 1;
      if (count === 3) stopping.abort(reason);
      stopping.signal.throwIfAborted();
      return score;
    });

    await expect(chunks.runStep(input, { signal: stopping.signal })).rejects.toBe(reason);
    expect(await statesOf(input)).toEqual({ scored: 2, running: 3 });
    await chunks.release(input);

    expect(await statesOf(input)).toEqual({ scored: 2, queued: 3 });
    expect(chunks.closed.count).toBe(1);
  });

  test("fails when no sandbox starts, with nothing lost", async () => {
    const input = await givenAChunk(2);
    const away = new ServiceError("SANDBOX_UNAVAILABLE", "no sandbox");
    const open = async () => Promise.reject(away);

    await expect(
      step(
        chunksOf(async () => score, { runner: { open } }),
        input,
      ),
    ).rejects.toBe(away);

    expect(await statesOf(input)).toEqual({ running: 2 });
  });

  test("fails every event where the evaluator can never be opened", async () => {
    const input = await givenAChunk(2);
    const open = async () => Promise.reject(new ServiceError("INVALID_ARGUMENT", "no such model"));

    const got = await step(
      chunksOf(async () => score, { runner: { open } }),
      input,
    );

    expect(got.counts).toMatchObject({ scored: 0, failed: 2 });
    const metrics = await metricsOf(input);
    const failed = metrics.map((one) => one[`${input.evaluatorName}_failure`]);
    expect(failed).toEqual(Array.from({ length: 2 }, () => "INVALID_ARGUMENT: no such model"));
  });
});

describe("a chunk ends early", () => {
  test("when the evaluator fails ten times in a row, which disables it", async () => {
    const input = await givenAChunk(120);
    let count = 0;
    // Nine, a success, then failures only.
    const chunks = chunksOf(async () => ((count += 1) === 10 ? score : failure));

    const got = await step(chunks, input);

    // The evaluator's message may be the text of an event, which Temporal must not store.
    const reason = "disabled after 10 failures in a row";
    expect(got.end).toEqual({ kind: "disabled", reason });
    const evaluator = await own.metrics.get(project.projectId, input.evaluatorId);
    const disabledReason = `${reason}: NO_SCORE: none`;
    expect(evaluator).toMatchObject({ disabledReason, version: input.version + 1 });
    expect(evaluator.definition.enabled_in_prod).toBe(false);
    // The batch of those ten, and nothing after it.
    expect(await statesOf(input)).toEqual({ scored: 1, failed: 99 });
  });

  test("when it had failed too often, and whoever counted was cut off then", async () => {
    const input = await givenAChunk(20);
    const cutOff = new Error("killed");
    const metrics = { ...own.metrics, disable: () => Promise.reject(cutOff) };
    await expect(
      step(
        chunksOf(async () => failure, { metrics }),
        input,
      ),
    ).rejects.toBe(cutOff);

    const got = await step(
      chunksOf(async () => score),
      input,
    );

    expect(got.end).toMatchObject({ kind: "disabled" });
    expect(await statesOf(input)).toEqual({ failed: 20 });
  });

  test("when the evaluator is deleted: the rest is dropped", async () => {
    const input = await givenAChunk(2);
    await own.metrics.delete({ project, id: input.evaluatorId, actor });

    const got = await step(
      chunksOf(async () => score),
      input,
    );

    expect(got.end).toEqual({ kind: "dropped", reason: "the evaluator is deleted" });
    expect(await statesOf(input)).toEqual({});
  });

  test("when the evaluator is disabled while it runs: the rest is dropped", async () => {
    const input = await givenAChunk(2);
    const fields = { enabled_in_prod: false };
    await own.metrics.update({ project, id: input.evaluatorId, actor }, fields);

    const got = await step(
      chunksOf(async () => score),
      input,
    );

    expect(got.end).toEqual({ kind: "dropped", reason: "the evaluator is disabled" });
    expect(await statesOf(input)).toEqual({});
  });

  test("when another version runs: that one gets the rest", async () => {
    const input = await givenAChunk(2);
    const fields = { prompt: "Rate it otherwise: [[5]]" };
    await own.metrics.update({ project, id: input.evaluatorId, actor }, fields);

    const got = await step(
      chunksOf(async () => score),
      input,
    );

    expect(got.end).toEqual({ kind: "requeued", reason: "the evaluator was changed" });
    expect(await statesOf(input)).toEqual({ queued: 2 });
  });

  test("when another version runs, which the failures of this one do not disable", async () => {
    const input = await givenAChunk(120);
    const whose = { project, id: input.evaluatorId, actor };
    let change: Promise<unknown> | undefined;
    const chunks = chunksOf(async () => {
      await (change ??= own.metrics.update(whose, { prompt: "Rate it otherwise: [[5]]" }));
      return failure;
    });

    const got = await step(chunks, input);

    expect(got.end).toEqual({ kind: "requeued", reason: "the evaluator was changed" });
    expect(await statesOf(input)).toEqual({ failed: 100, queued: 20 });
    const { definition } = await own.metrics.get(project.projectId, input.evaluatorId);
    expect(definition.enabled_in_prod).toBe(true);
  });

  test("when its project is archived: nothing is touched", async () => {
    const input = await givenAChunk(2);
    const scopes = { find: async () => undefined };

    const got = await step(
      chunksOf(async () => score, { scopes }),
      input,
    );

    expect(got.end).toEqual({ kind: "dropped", reason: "the project is archived" });
    expect(await statesOf(input)).toEqual({ running: 2 });
  });

  test("when its backfill does not run any more, which keeps the rest", async () => {
    const input = await givenAChunk(2);
    const ofBackfill = { ...input, backfillId: createUuid() };
    const chunks = chunksOf(async () => score);

    const got = await step(chunks, ofBackfill);
    await chunks.release(ofBackfill);

    expect(got.end).toEqual({ kind: "held" });
    expect(await statesOf(input)).toEqual({ running: 2 });
  });
});
