// The time limit of a chart while its summaries are added up, where no statement runs that Postgres
// would end. Source: docs/charts.md, "Speed".

import { ServiceError } from "../../../base/errors.ts";
import type { Pacer } from "../../../base/pacer.ts";

/** When work for a call ends. */
export type Ending = {
  /** Time of the process' clock. */
  readonly endsAtMs: number;
  readonly signal: AbortSignal | undefined;
};

/**
 * Returns a pacer whose work ends at the first rest after its time, or after the call was given up:
 * `rest` throws DEADLINE_EXCEEDED, or the signal's reason.
 */
export function pacerUntil(pacer: Pacer, ending: Ending): Pacer {
  const isOver = (): boolean =>
    performance.now() > ending.endsAtMs || ending.signal?.aborted === true;
  return {
    due: () => pacer.due() || isOver(),
    async rest() {
      await pacer.rest();
      ending.signal?.throwIfAborted();
      if (isOver()) throw new ServiceError("DEADLINE_EXCEEDED", tooSlow);
    },
  };
}

const tooSlow =
  "the chart takes longer than its 20 s; ask for less: a narrower date range, a larger bucket, " +
  "fewer measures, or a split with fewer values";
