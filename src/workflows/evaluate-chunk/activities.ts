// Activities that run a version of an evaluator on a chunk of events in steps.

import type { Chunks, ChunkStep } from "../../evaluation/scores/run-chunk.ts";
import type { EvaluateChunkInput } from "../../outbox/entry.ts";
import { stopSignal, tell, toActivities } from "../activity.ts";

export function createEvaluateChunkActivities({ chunks }: { readonly chunks: Chunks }) {
  return toActivities({
    /** Runs the rest of a chunk for some seconds. */
    runChunk: (input: EvaluateChunkInput): Promise<ChunkStep> =>
      chunks.runStep(input, {
        signal: stopSignal(),
        onCommitted: (committed) => tell({ committed }),
      }),

    /** Releases events that were not run, so that another workflow can run them. */
    releaseChunk: (input: EvaluateChunkInput): Promise<void> => chunks.release(input),
  });
}
