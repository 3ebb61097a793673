// Runs a version of an evaluator on a chunk of events, a step at a time. Called by workflow.ts
// through Temporal.

import type { Chunks, ChunkStep } from "../../evaluation/chunks/run-chunk.ts";
import type { EvaluateChunkInput } from "../../outbox/entry.ts";
import { stopSignal, tell, toActivities } from "../activity.ts";

export function createEvaluateChunkActivities({ chunks }: { readonly chunks: Chunks }) {
  return toActivities({
    /** Runs what is left of a chunk for some seconds. */
    runChunk: (input: EvaluateChunkInput): Promise<ChunkStep> =>
      chunks.runStep(input, {
        signal: stopSignal(),
        onCommitted: (committed) => tell({ committed }),
      }),

    /** Gives back what has not run, since nobody will run it here. */
    releaseChunk: (input: EvaluateChunkInput): Promise<void> => chunks.release(input),
  });
}
