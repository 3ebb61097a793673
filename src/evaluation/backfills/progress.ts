// Progress of a backfill, in events.

import type { ChunkCounts } from "../scores/scores.ts";

export type BackfillProgress = {
  /** Events that matched at the start. */
  readonly matched: number;
  /** Events processed so far. */
  readonly done: number;
  readonly scored: number;
  readonly failed: number;
  readonly skipped: number;
};

/** Sums up the results of a backfill's chunks. */
export function toProgress(
  { matched }: { readonly matched: number },
  { scored, failed, skipped }: ChunkCounts,
): BackfillProgress {
  return { matched, done: scored + failed + skipped, scored, failed, skipped };
}
