// What the workflow of a backfill asks for and writes down. Called by workflow.ts through Temporal.

import type { BackfillRuns, NextChunk } from "../../evaluation/backfills/backfill-runs.ts";
import type { BackfillInput } from "../../outbox/entry.ts";
import { toActivities } from "../activity.ts";

/** How a backfill ends before its end. */
export type BackfillFailure = {
  readonly state: "cancelled" | "failed";
  readonly error: string;
};

export function createBackfillActivities({
  backfillRuns,
}: {
  readonly backfillRuns: Pick<BackfillRuns, "nextChunk" | "finish">;
}) {
  return toActivities({
    /** Returns the chunk to run next, or how the backfill has ended. */
    nextChunk: (input: BackfillInput): Promise<NextChunk> => backfillRuns.nextChunk(input),

    /** Ends a backfill before its end; what it has not run is let go. */
    endBackfill: (input: BackfillInput, how: BackfillFailure): Promise<void> =>
      backfillRuns.finish(input, how),
  });
}
