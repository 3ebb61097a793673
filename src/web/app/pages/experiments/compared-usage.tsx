// ComparedUsage: what the application took on two runs: errors, tokens, cost and time.

import { Link } from "@tanstack/react-router";
import type { Run, RunUsage } from "../../../../../gen/waggle/v1/run_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { formatCost, formatCount, formatCounted, formatDuration } from "../../design/format.ts";
import { Difference } from "../compare/difference.tsx";
import { costOf, useRunUsage } from "./use-run-usage.ts";
import "../compare/compare.css";

type Measure = {
  readonly label: string;
  readonly of: (usage: RunUsage) => number | undefined;
  readonly format: (value: number) => string;
};

const measures: readonly Measure[] = [
  { label: "Errors", of: ({ totals }) => totals?.numErrors, format: formatCount },
  { label: "Tokens", of: ({ totals }) => totals?.totalTokens || undefined, format: formatCount },
  { label: "Cost", of: costOf, format: formatCost },
  { label: "Median duration", of: ({ durationP50 }) => durationP50, format: formatDuration },
  { label: "p95 duration", of: ({ durationP95 }) => durationP95, format: formatDuration },
];

export function ComparedUsage({ base, newer }: { readonly base: Run; readonly newer: Run }) {
  const [before, after] = [useRunUsage(base.id), useRunUsage(newer.id)];
  return (
    <section className="section">
      <h2>Cost and time</h2>
      <table className="run-usage numeric">
        <thead>
          <tr>
            <th scope="col">Sum or percentile</th>
            <RunHeader label="Base" run={base} usage={before} />
            <RunHeader label="New" run={newer} usage={after} />
            <th scope="col">New − base</th>
          </tr>
        </thead>
        <tbody>
          {measures.map(({ label, of, format }) => {
            const values = [before, after].map((usage) => usage && of(usage));
            return (
              <tr key={label}>
                <th scope="row">{label}</th>
                {values.map((value, side) => (
                  <td key={side}>{value === undefined ? "–" : format(value)}</td>
                ))}
                <td>
                  <Difference a={values[0]} b={values[1]} format={format} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

type RunHeaderProps = {
  readonly label: string;
  readonly run: Run;
  readonly usage: RunUsage | undefined;
};

function RunHeader({ label, run, usage }: RunHeaderProps) {
  const projectId = useCurrentProjectId();
  return (
    <th scope="col">
      <Link
        to="/app/p/$projectId/experiments/$runId"
        params={{ projectId, runId: run.id }}
        title={run.name ?? run.id}
      >
        {label}
      </Link>
      {usage && <div>{formatCounted(usage.sessions, "session")}</div>}
    </th>
  );
}
