// ComparedUsage: what the application took on two runs, in calls, tokens, cost and time.

import { Link } from "@tanstack/react-router";
import type { Run, RunUsage } from "../../../../../gen/waggle/v1/run_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { formatCost, formatCount, formatDuration } from "../../design/format.ts";
import { type Measure, TotalsTable } from "../compare/totals-table.tsx";
import { costOf, useRunUsage } from "./use-run-usage.ts";

const measures: readonly Measure<RunUsage>[] = [
  { label: "Sessions", of: ({ sessions }) => sessions, format: formatCount },
  { label: "Errors", of: ({ totals }) => totals?.numErrors, format: formatCount },
  { label: "Tokens", of: ({ totals }) => totals?.totalTokens || undefined, format: formatCount },
  { label: "Cost", of: costOf, format: formatCost },
  { label: "Median duration", of: ({ durationP50 }) => durationP50, format: formatDuration },
  { label: "p95 duration", of: ({ durationP95 }) => durationP95, format: formatDuration },
];

export type ComparedUsageProps = { readonly base: Run; readonly newer: Run };

export function ComparedUsage({ base, newer }: ComparedUsageProps) {
  return (
    <section className="section">
      <h2>Cost and time</h2>
      <TotalsTable
        kind="Run"
        first={{ name: <Name label="Base" run={base} />, value: useRunUsage(base.id) }}
        second={{ name: <Name label="New" run={newer} />, value: useRunUsage(newer.id) }}
        difference="New − base"
        measures={measures}
      />
    </section>
  );
}

function Name({ label, run }: { readonly label: string; readonly run: Run }) {
  const projectId = useCurrentProjectId();
  return (
    <>
      {label}:{" "}
      <Link
        to="/app/p/$projectId/experiments/$runId"
        params={{ projectId, runId: run.id }}
        title={run.id}
      >
        {run.name ?? run.id}
      </Link>
    </>
  );
}
