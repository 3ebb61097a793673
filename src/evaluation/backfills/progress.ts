// How far a backfill is, in events. Called by backfills.ts and backfill-runs.ts.

import type { ChunkCounts } from "../scores/scores.ts";

export type BackfillProgress = {
  /** That matched when it was started. */
  readonly matched: number;
  /** Looked at so far. */
  readonly done: number;
  readonly scored: number;
  readonly failed: number;
  readonly skipped: number;
};

/** Adds up what a backfill's chunks have done. */
export function toProgress(
  { matched }: { readonly matched: number },
  { scored, failed, skipped }: ChunkCounts,
): BackfillProgress {
  return { matched, done: scored + failed + skipped, scored, failed, skipped };
}
