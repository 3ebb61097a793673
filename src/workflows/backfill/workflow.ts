// Runs a version of an evaluator on stored events, one chunk after the other, each with a child
// workflow. Started through the outbox.
// Source: docs/spec.md, "Metrics and evaluations"; docs/workflows.md.

import {
  CancellationScope,
  ParentClosePolicy,
  WorkflowIdReusePolicy,
  continueAsNew,
  executeChild,
  isCancellation,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from "@temporalio/workflow";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import type { ChunkEnd } from "../../evaluation/scores/run-chunk.ts";
import type { NextChunk } from "../../evaluation/backfills/backfill-runs.ts";
import { evaluateChunkEntry } from "../../outbox/entry.ts";
import type { BackfillInput, EvaluateChunkInput } from "../../outbox/entry.ts";
import { activityOptions } from "../activity-options.ts";
import { describeChunk } from "../describe-work.ts";
import type { evaluateChunk } from "../evaluate-chunk/workflow.ts";
import { type Progress, progressQuery } from "../progress.ts";
import { scopeKey, searchAttributesOf } from "../search-attributes.ts";
import type { createBackfillActivities } from "./activities.ts";

const { nextChunk, endBackfill } =
  proxyActivities<ReturnType<typeof createBackfillActivities>>(activityOptions);

/** Input, with the progress of the earlier run if the workflow continues as new. */
export type BackfillRunInput = BackfillInput & { readonly resumed?: Progress };

/** Maximum starts of a chunk whose workflow is cancelled or terminated. */
const chunkStartsMax = 3;
const pauseMs = 2_000;

/** Runs a backfill; returns the final progress. */
export async function backfill({ resumed, ...input }: BackfillRunInput): Promise<Progress> {
  let progress: Progress = resumed ?? { state: "looking for events", done: 0, left: 0 };
  setHandler(progressQuery, () => progress);
  try {
    for (;;) {
      const next = await nextChunk(input);
      progress = toProgress(next);
      if (next.kind === "chunk") {
        const error = await runChunk(next.chunk);
        if (error !== undefined) {
          await endBackfill(input, { state: "failed", error });
          progress = { ...progress, state: `failed: ${error}` };
          return progress;
        }
      } else if (next.kind !== "again") return progress;
      if (next.kind === "again" && next.pauseMs !== undefined) await sleep(next.pauseMs);
      if (!workflowInfo().continueAsNewSuggested) continue;
      await continueAsNew<typeof backfill>({ ...input, resumed: progress });
    }
  } catch (error) {
    if (isCancellation(error)) {
      const how = { state: "cancelled", error: "cancelled in Temporal" } as const;
      await CancellationScope.nonCancellable(() => endBackfill(input, how));
      progress = { ...progress, state: "cancelled" };
    }
    throw error;
  }
}

/** Runs a chunk with a child workflow; returns the reason if the backfill cannot continue. */
async function runChunk(chunk: EvaluateChunkInput): Promise<string | undefined> {
  const entry = evaluateChunkEntry(chunk);
  const { workflowId, workflowType } = entry;
  // The namespace may lack search attributes; this workflow was then started without them.
  const hasAttributes = workflowInfo().typedSearchAttributes.get(scopeKey) !== undefined;
  for (let starts = 1; starts <= chunkStartsMax;) {
    try {
      const { end } = await executeChild<typeof evaluateChunk>(workflowType, {
        workflowId,
        args: [chunk],
        // An interrupted chunk is still open, and the same workflow id runs it again.
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        // A terminated backfill must not leave a chunk running unattended.
        parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
        ...describeChunk(chunk),
        ...(hasAttributes && { typedSearchAttributes: searchAttributesOf(entry) }),
      });
      return describeFault(end);
    } catch (error) {
      if (CancellationScope.current().consideredCancelled) throw error;
      // The workflow of an earlier run is about to end, so this start does not count.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) starts += 1;
      await sleep(pauseMs);
    }
  }
  return `the workflow of chunk ${chunk.chunkId} was ended ${chunkStartsMax} times`;
}

function describeFault(end: ChunkEnd): string | undefined {
  return end.kind === "disabled" || end.kind === "dropped" ? end.reason : undefined;
}

function toProgress(next: NextChunk): Progress {
  const { matched, done, scored, failed, skipped } = next.progress;
  return {
    state: describeState(next),
    done,
    // More events may have arrived after the count.
    left: Math.max(0, matched - done),
    matched,
    scored,
    failed,
    skipped,
  };
}

function describeState(next: NextChunk): string {
  if (next.kind === "chunk" || next.kind === "again") return "running";
  const { error } = next as { readonly error?: string };
  return error === undefined ? next.kind : `${next.kind}: ${error}`;
}
