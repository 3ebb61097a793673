// useRunUsage: what the application took on a run.

import { type RunUsage, RunService } from "../../../../../gen/waggle/v1/run_pb.js";
import { useRpc } from "../../api/query.ts";

export function useRunUsage(runId: string, options: { readonly refreshMs?: number } = {}) {
  return useRpc(RunService.method.getRunUsage, { runId }, { staleMs: 30_000, ...options }).data;
}

/** Returns the cost of a run in US dollars with estimates; undefined if no call has a cost. */
export function costOf({ totals, estimatedCost }: RunUsage): number | undefined {
  const sent = totals?.cost;
  if (sent === undefined) return estimatedCost;
  return sent + (estimatedCost ?? 0);
}
