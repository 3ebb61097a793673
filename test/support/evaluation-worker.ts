// The worker of evaluators' workflows with fixed answers in place of the services, so that
// workflows are tested alone on a real Temporal.

import { createUuid, type ProjectId } from "../../src/base/ids.ts";
import { createLogger } from "../../src/base/logger.ts";
import type { Chunks, ChunkStep } from "../../src/evaluation/scores/run-chunk.ts";
import type { BackfillRuns, NextChunk } from "../../src/evaluation/backfills/backfill-runs.ts";
import type { EvaluateChunkInput } from "../../src/outbox/entry.ts";
import type { Activities } from "../../src/workflows/activities.ts";
import { createBackfillActivities } from "../../src/workflows/backfill/activities.ts";
import { createWorkflowClient, type WorkflowClient } from "../../src/workflows/client.ts";
import { createEvaluateChunkActivities } from "../../src/workflows/evaluate-chunk/activities.ts";
import { startWorker } from "../../src/workflows/worker.ts";
import { targetOf } from "./workflows.ts";

export type Services = Chunks & Pick<BackfillRuns, "nextChunk" | "finish">;

/** Starts the worker; a call to a service that is not given fails. */
export async function startEvaluationWorker(
  temporal: { readonly address: string; readonly namespace: string },
  services: Partial<Services>,
): Promise<{ readonly client: WorkflowClient; stop(): Promise<void> }> {
  const target = targetOf(temporal);
  const client = await createWorkflowClient(target);
  const unasked = () => Promise.reject(new Error("not to be asked in this test"));
  const given: Services = {
    runStep: unasked,
    release: unasked,
    nextChunk: unasked,
    finish: unasked,
    ...services,
  };
  const activities = {
    ...createEvaluateChunkActivities({ chunks: given }),
    ...createBackfillActivities({ backfillRuns: given }),
  } as Activities;
  const logger = createLogger("fatal");
  const worker = startWorker({
    target,
    client,
    activities,
    logger,
    isTracing: false,
    onActivity: () => undefined,
  });
  return {
    client,
    async stop() {
      await worker.stop();
      await client.close();
    },
  };
}

/** Returns the input of an evaluator's workflow; every id is new. */
export function aChunk(input: Partial<EvaluateChunkInput> = {}): EvaluateChunkInput {
  return {
    projectId: createUuid() as ProjectId,
    orgId: createUuid(),
    chunkId: createUuid(),
    evaluatorId: createUuid(),
    evaluatorName: "Answer length",
    version: 3,
    enablement: 1,
    events: 100,
    actor: "a test",
    ...input,
  };
}

/** Returns the steps of a chunk of 100 events; each step scores `perStep` events. */
export function stepsOf(perStep: number): () => Promise<ChunkStep> {
  let scored = 0;
  return async () => {
    scored += perStep;
    const counts = { events: 100, scored, failed: 0, skipped: 0 };
    return scored < 100 ? { counts } : { counts, end: { kind: "done" } };
  };
}

/** Returns an answer to a backfill of 200 events. */
export function answerOf(
  next:
    | { readonly kind: "chunk"; readonly chunk: EvaluateChunkInput }
    | { readonly kind: "again"; readonly pauseMs: number }
    | { readonly kind: "completed" },
  done: number,
): NextChunk {
  const progress = { matched: 200, done, scored: done, failed: 0, skipped: 0 };
  return { ...next, progress };
}
