// UsageCost: the cost of the calls of a run, which begins with `~` if estimates are in it.

import type { RunUsage } from "../../../../../gen/waggle/v1/run_pb.js";
import { Cost } from "../../design/values.tsx";
import { costOf } from "./use-run-usage.ts";

export function UsageCost({ usage }: { readonly usage: RunUsage | undefined }) {
  return <Cost value={usage && costOf(usage)} isEstimate={usage?.estimatedCost !== undefined} />;
}
