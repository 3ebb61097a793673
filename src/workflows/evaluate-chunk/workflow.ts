// Runs a version of an evaluator on a chunk of events, each once. Started through the outbox, or by
// the workflow of a backfill. Source: docs/decisions.md, 24.1; docs/workflows.md.

import {
  CancellationScope,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from "@temporalio/workflow";
import type { ChunkEnd, ChunkStep } from "../../evaluation/scores/run-chunk.ts";
import type { EvaluateChunkInput } from "../../outbox/entry.ts";
import { evaluationOptions } from "../activity-options.ts";
import { type Progress, progressQuery } from "../progress.ts";
import type { createEvaluateChunkActivities } from "./activities.ts";

const { runChunk, releaseChunk } =
  proxyActivities<ReturnType<typeof createEvaluateChunkActivities>>(evaluationOptions);

/** Input, with the progress of the earlier run if the workflow continues as new. */
export type ChunkRunInput = EvaluateChunkInput & { readonly resumed?: Progress };

export type ChunkRun = { readonly end: ChunkEnd; readonly progress: Progress };

/** Runs a chunk; returns its end and the final progress. */
export async function evaluateChunk({ resumed, ...input }: ChunkRunInput): Promise<ChunkRun> {
  const start = { state: "running", done: 0, left: input.events, scored: 0, failed: 0 };
  let progress: Progress = resumed ?? start;
  setHandler(progressQuery, () => progress);
  try {
    for (;;) {
      const step = await runChunk(input);
      progress = toProgress(step);
      if (step.end) return { end: step.end, progress };
      if (step.pauseMs !== undefined) await sleep(step.pauseMs);
      if (!workflowInfo().continueAsNewSuggested) continue;
      await continueAsNew<typeof evaluateChunk>({ ...input, resumed: progress });
    }
  } catch (error) {
    if (isCancellation(error)) {
      await CancellationScope.nonCancellable(() => releaseChunk(input));
      progress = { ...progress, state: "cancelled" };
    }
    throw error;
  }
}

function toProgress({ counts, end }: ChunkStep): Progress {
  const { events, scored, failed, skipped } = counts;
  const done = scored + failed + skipped;
  return {
    state: describeEnd(end),
    done,
    left: Math.max(0, events - done),
    scored,
    failed,
    skipped,
  };
}

function describeEnd(end: ChunkEnd | undefined): string {
  if (!end) return "running";
  if (end.kind === "held") return "held by its backfill";
  return end.kind === "done" ? "done" : `${end.kind}: ${end.reason}`;
}
