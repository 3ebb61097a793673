// Activities of a backfill: finding the next chunk and recording its end.

import type { BackfillRuns, NextChunk } from "../../evaluation/backfills/backfill-runs.ts";
import type { BackfillInput } from "../../outbox/entry.ts";
import { toActivities } from "../activity.ts";

/** Premature end of a backfill. */
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
    /** Returns the next chunk to run, or the end of the backfill. */
    nextChunk: (input: BackfillInput): Promise<NextChunk> => backfillRuns.nextChunk(input),

    /** Ends a backfill early; events that were not run are released. */
    endBackfill: (input: BackfillInput, how: BackfillFailure): Promise<void> =>
      backfillRuns.finish(input, how),
  });
}
