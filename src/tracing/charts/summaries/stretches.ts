// Cuts the range of a chart into stretches of time that each lie in one bucket: whole past hours,
// whose summaries are kept, and the rest.

import { hourUs, settledMs } from "../../events/mark-store.ts";
import type { TimeRange } from "../buckets.ts";

export type Stretch = {
  /** Place of the stretch's bucket among the buckets. */
  readonly bucket: number;
  /** Start times in microseconds: `fromUs` inclusive, `toUs` exclusive. */
  readonly fromUs: number;
  readonly toUs: number;
  /** Hours since 1970 of the past hour that the stretch lies in; null for other stretches. */
  readonly hour: number | null;
  /** Whether it is the whole of its hour. */
  readonly isWhole: boolean;
};

const hourMs = hourUs / 1_000;

/** Maximum stretches of a chart: hours of eleven years. */
const stretchesMax = 100_000;

/**
 * Cuts a range at each hour and at each start of a bucket in Unix milliseconds. The first bucket
 * does not start after the range. Returns undefined if the range has too many hours. `nowMs` only
 * tells which hours are worth a stretch of their own; Postgres' clock decides which are kept.
 */
export function cutRange(
  { fromMs, toMs }: TimeRange,
  starts: readonly number[],
  nowMs: number,
): readonly Stretch[] | undefined {
  if ((toMs - fromMs) / hourMs + starts.length > stretchesMax) return undefined;
  const kept = Math.floor((nowMs - settledMs) / hourMs);
  const stretches: Stretch[] = [];
  let bucket = 0;
  for (let at = fromMs; at < toMs;) {
    while ((starts[bucket + 1] ?? Infinity) <= at) bucket += 1;
    const hour = Math.floor(at / hourMs);
    // The rest of a bucket is one stretch when no hour in it is kept.
    const isPast = hour < kept;
    const end = isPast ? (hour + 1) * hourMs : Infinity;
    const next = Math.min(end, toMs, starts[bucket + 1] ?? Infinity);
    const isWhole = isPast && next - at === hourMs;
    const place = { bucket, fromUs: at * 1e3, toUs: next * 1e3 };
    stretches.push({ ...place, hour: isPast ? hour : null, isWhole });
    at = next;
  }
  return stretches;
}
