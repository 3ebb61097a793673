// Reactions of the evaluators' workflows to each answer of the services, on a real Temporal. The
// test gives the answers; evaluate.test.ts runs the services themselves.

import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { BackfillEnd } from "../../src/evaluation/backfills/backfill-runs.ts";
import type { ChunkEnd, ChunkStep } from "../../src/evaluation/scores/run-chunk.ts";
import { createUuid } from "../../src/base/ids.ts";
import { backfillEntry, evaluateChunkEntry } from "../../src/outbox/entry.ts";
import type { BackfillInput, EvaluateChunkInput } from "../../src/outbox/entry.ts";
import { givenTemporal } from "../support/given-temporal.ts";
import {
  aChunk,
  answerOf,
  startEvaluationWorker,
  stepsOf,
  type Services,
} from "../support/evaluation-worker.ts";
import { patience } from "../support/patience.ts";
import { openClient } from "../support/workflows.ts";
import { recordHistory } from "./histories.ts";

const temporal = givenTemporal("evaluators");

async function given(services: Partial<Services>) {
  const worker = await startEvaluationWorker(temporal, services);
  const operator = openClient(temporal);
  onTestFinished(async () => {
    await worker.stop();
    await operator.close();
  });
  const handleOf = (workflowId: string) => operator.client.workflow.getHandle(workflowId);
  return { client: worker.client, operator, handleOf };
}

function aBackfill(chunk: EvaluateChunkInput): BackfillInput {
  return { ...chunk, backfillId: createUuid(), run: 1 };
}

const isRunning = (state: string | undefined) => state === "RUNNING";

/** Begins to run and never ends by itself. */
function hanging() {
  const begun = { count: 0 };
  const runStep: Services["runStep"] = (_input, { signal }) => {
    begun.count += 1;
    return new Promise<ChunkStep>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error));
    });
  };
  return { begun, runStep };
}

describe("evaluateChunk", () => {
  test("waits before the next step where it has to step aside", async () => {
    const entry = evaluateChunkEntry(aChunk());
    const takeStep = stepsOf(50);
    let isAside = true;
    const runStep = async (): Promise<ChunkStep> => {
      if (!isAside) return takeStep();
      isAside = false;
      return { counts: { events: 100, scored: 0, failed: 0, skipped: 0 }, pauseMs: 10 };
    };
    const { client, operator, handleOf } = await given({ runStep });

    await client.start(entry);
    const handle = handleOf(entry.workflowId);

    expect(await handle.result()).toMatchObject({ end: { kind: "done" } });
    const { events } = await handle.fetchHistory();
    expect(events?.filter((one) => one.timerStartedEventAttributes)).toHaveLength(1);
    await recordHistory(operator.client, entry.workflowId, "evaluate-chunk-aside");
  });

  test("takes steps until the chunk is done, and says how far it is, even then", async () => {
    const entry = evaluateChunkEntry(aChunk());
    const { client, operator, handleOf } = await given({ runStep: stepsOf(40) });

    await client.start(entry);
    const result: unknown = await handleOf(entry.workflowId).result();

    const progress = { state: "done", done: 120, left: 0, scored: 120, failed: 0, skipped: 0 };
    expect(result).toEqual({ end: { kind: "done" }, progress });
    expect(await operator.progressOf(entry.workflowId)).toEqual(progress);
  }, 300_000);

  test("is found by evaluator and project, and reads well", async () => {
    const chunk = aChunk();
    const entry = evaluateChunkEntry(chunk);
    const { client, operator, handleOf } = await given({ runStep: stepsOf(100) });

    await client.start(entry);
    await handleOf(entry.workflowId).result();

    const query = `WaggleEvaluator = '${chunk.evaluatorId}' AND WaggleScope = '${chunk.projectId}'`;
    await vi.waitUntil(
      async () => (await operator.client.workflow.count(query)).count === 1,
      patience,
    );
    const { staticSummary, memo, workflowId } = await handleOf(entry.workflowId)
      .describe()
      .then(async (description) => ({
        staticSummary: await description.staticSummary(),
        memo: description.memo,
        workflowId: description.workflowId,
      }));
    expect(workflowId).toBe(`evaluate-answer-length-v3-${chunk.chunkId}`);
    expect(staticSummary).toBe("evaluate Answer length v3 on 100 events");
    expect(memo).toMatchObject({ name: "Answer length", project: chunk.projectId });
  }, 300_000);

  test("tries a step again that failed without the evaluator's doing, and says why", async () => {
    const entry = evaluateChunkEntry(aChunk());
    const step = stepsOf(100);
    let isAway = true;
    const runStep = () => (isAway ? Promise.reject(new Error("no sandbox now")) : step());
    const { client, handleOf } = await given({ runStep });

    await client.start(entry);
    const handle = handleOf(entry.workflowId);
    const failureOf = async () => {
      const { raw } = await handle.describe();
      return raw.pendingActivities?.[0]?.lastFailure?.message;
    };
    await vi.waitUntil(async () => (await failureOf()) === "no sandbox now", patience);
    isAway = false;

    expect(await handle.result()).toMatchObject({ end: { kind: "done" } });
  }, 300_000);

  test("gives the rest back when it is cancelled, once the step has ended", async () => {
    const released: EvaluateChunkInput[] = [];
    const chunk = aChunk();
    const entry = evaluateChunkEntry(chunk);
    const { begun, runStep } = hanging();
    const release = async (input: EvaluateChunkInput) => void released.push(input);
    const { client, operator, handleOf } = await given({ runStep, release });

    await client.start(entry);
    await vi.waitUntil(() => begun.count === 1, patience);
    await handleOf(entry.workflowId).cancel();

    await expect(handleOf(entry.workflowId).result()).rejects.toThrow(/cancelled/i);
    expect(released).toEqual([chunk]);
    expect(await operator.progressOf(entry.workflowId)).toMatchObject({ state: "cancelled" });
    await recordHistory(operator.client, entry.workflowId, "evaluate-chunk-cancelled");
  }, 300_000);
});

describe("backfill", () => {
  test("runs a chunk after the other, by workflows of their own, and adds them up", async () => {
    const chunks = [aChunk(), aChunk()];
    const input = aBackfill(aChunk());
    const entry = backfillEntry(input);
    let asked = 0;
    const { client, operator, handleOf } = await given({
      runStep: async () => stepsOf(100)(),
      nextChunk: async () => {
        const chunk = chunks[asked];
        asked += 1;
        const next = chunk ? ({ kind: "chunk", chunk } as const) : ({ kind: "completed" } as const);
        return answerOf(next, 100 * (asked - 1));
      },
    });

    await client.start(entry);

    const want = { state: "completed", done: 200, left: 0, matched: 200, scored: 200 };
    expect(await handleOf(entry.workflowId).result()).toMatchObject(want);
    for (const chunk of chunks) {
      const { workflowId } = evaluateChunkEntry(chunk);
      expect(await operator.stateOf(workflowId)).toBe("COMPLETED");
      const { typedSearchAttributes } = await handleOf(workflowId).describe();
      expect(JSON.stringify(typedSearchAttributes)).toContain(chunk.evaluatorId);
    }
  }, 300_000);

  test("waits before it asks again where others look for events", async () => {
    const entry = backfillEntry(aBackfill(aChunk()));
    let asked = 0;
    const { client, operator, handleOf } = await given({
      nextChunk: async () => {
        asked += 1;
        return answerOf(asked === 1 ? { kind: "again", pauseMs: 10 } : { kind: "completed" }, 0);
      },
    });

    await client.start(entry);
    const handle = handleOf(entry.workflowId);

    expect(await handle.result()).toMatchObject({ state: "completed" });
    const { events } = await handle.fetchHistory();
    expect(events?.filter((one) => one.timerStartedEventAttributes)).toHaveLength(1);
    await recordHistory(operator.client, entry.workflowId, "backfill-aside");
  }, 300_000);

  test.each<{ end: ChunkEnd; want: string }>([
    { end: { kind: "disabled", reason: "disabled after 10" }, want: "disabled after 10" },
    { end: { kind: "dropped", reason: "it is deleted" }, want: "it is deleted" },
  ])(
    "fails with its evaluator: $want",
    async ({ end, want }) => {
      const chunk = aChunk();
      const entry = backfillEntry(aBackfill(chunk));
      const ends: BackfillEnd[] = [];
      const counts = { events: 100, scored: 0, failed: 10, skipped: 0 };
      const { client, handleOf } = await given({
        runStep: async () => ({ counts, end }),
        nextChunk: async () => answerOf({ kind: "chunk", chunk }, 0),
        finish: async (_run, how) => void ends.push(how),
      });

      await client.start(entry);

      expect(await handleOf(entry.workflowId).result()).toMatchObject({ state: `failed: ${want}` });
      expect(ends).toEqual([{ state: "failed", error: want }]);
    },
    60_000,
  );

  test("starts a chunk again that was ended from outside, three times in all", async () => {
    const chunk = aChunk();
    const entry = backfillEntry(aBackfill(chunk));
    const { workflowId } = evaluateChunkEntry(chunk);
    const ends: BackfillEnd[] = [];
    const { begun, runStep } = hanging();
    const { client, handleOf } = await given({
      runStep,
      nextChunk: async () => answerOf({ kind: "chunk", chunk }, 0),
      finish: async (_run, how) => void ends.push(how),
    });

    await client.start(entry);
    for (let count = 1; count <= 3; count += 1) {
      await vi.waitUntil(() => begun.count === count, patience);
      await client.terminate(workflowId, "a test");
    }

    const error = `the workflow of chunk ${chunk.chunkId} was ended 3 times`;
    expect(await handleOf(entry.workflowId).result()).toMatchObject({ state: `failed: ${error}` });
    expect(ends).toEqual([{ state: "failed", error }]);
  }, 300_000);

  test("ends as cancelled, with its chunk, when an operator cancels it", async () => {
    const chunk = aChunk({ backfillId: createUuid() });
    const entry = backfillEntry(aBackfill(chunk));
    const ends: BackfillEnd[] = [];
    const { begun, runStep } = hanging();
    const { client, operator, handleOf } = await given({
      runStep,
      release: async () => undefined,
      nextChunk: async () => answerOf({ kind: "chunk", chunk }, 0),
      finish: async (_run, how) => void ends.push(how),
    });

    await client.start(entry);
    await vi.waitUntil(() => begun.count === 1, patience);
    await handleOf(entry.workflowId).cancel();

    await expect(handleOf(entry.workflowId).result()).rejects.toThrow(/cancelled/i);
    expect(ends).toEqual([{ state: "cancelled", error: "cancelled in Temporal" }]);
    const stateOfChunk = await operator.stateOf(evaluateChunkEntry(chunk).workflowId);
    expect(isRunning(stateOfChunk)).toBe(false);
    await recordHistory(operator.client, entry.workflowId, "backfill-cancelled");
  }, 300_000);
});
