// Columns of the list of runs; scores, cost and time of a run are read when its row is seen.

import { type Run, RunService } from "../../../../../gen/waggle/v1/run_pb.js";
import { useRpc } from "../../api/query.ts";
import { Status } from "../../design/badge.tsx";
import { idColumn, textColumn, timeColumn } from "../../design/columns.tsx";
import { formatScore } from "../../design/format.ts";
import type { Column } from "../../design/table.tsx";
import { Duration } from "../../design/values.tsx";
import { namesOf } from "./score.ts";
import { statusTones } from "./status-tones.ts";
import { UsageCost } from "./usage-cost.tsx";
import { useRunUsage } from "./use-run-usage.ts";

const staleMs = 30_000;

export const runColumns: readonly Column<Run>[] = [
  textColumn({
    id: "name",
    header: "Run",
    width: 150,
    grow: 1,
    text: ({ name, id }) => name ?? id,
  }),
  {
    id: "status",
    isMajor: true,
    header: "Status",
    width: 104,
    cell: ({ status }) => <Status tone={statusTones[status] ?? "neutral"}>{status}</Status>,
  },
  {
    id: "dataset",
    header: "Dataset",
    width: 150,
    cell: ({ datasetName, datasetVersion }) => (
      <span className="truncate">
        {datasetName === undefined ? (
          "–"
        ) : (
          <>
            <bdi>{datasetName}</bdi>
            {` v${datasetVersion ?? "?"}`}
          </>
        )}
      </span>
    ),
  },
  {
    id: "scores",
    header: "Scores",
    width: 170,
    grow: 1,
    cell: ({ id }) => <Scores runId={id} />,
  },
  { id: "cost", header: "Cost", width: 84, align: "end", cell: ({ id }) => <RunCost runId={id} /> },
  {
    id: "duration",
    header: "Duration",
    width: 84,
    align: "end",
    cell: ({ id }) => <RunDuration runId={id} />,
  },
  timeColumn({ id: "created", header: "Created", at: ({ createdAt }) => createdAt }),
  idColumn({ width: 150, idOf: ({ id }) => id }),
];

function Scores({ runId }: { readonly runId: string }) {
  const input = { runId, withoutDatapoints: true };
  const { data, error } = useRpc(RunService.method.getRunResult, input, { staleMs });
  // The cell is a link, which must have text at any time.
  if (!data) return error ? <span title={error.message}>not read</span> : "…";
  const details = data.metrics?.details ?? [];
  const scored = details.filter(({ aggregate }) => aggregate !== undefined);
  const nameOf = namesOf(details);
  const text = scored.map((detail) => `${nameOf(detail)} ${formatScore(detail.aggregate)}`);
  if (scored.length === 0) return "–";
  return (
    <span className="run-scores truncate" title={text.join("\n")}>
      {scored.slice(0, 4).map((detail) => (
        <span key={`${detail.metricName} ${detail.eventName}`}>
          <span className="faint">{nameOf(detail)}</span>{" "}
          <b className="numeric">{formatScore(detail.aggregate)}</b>
        </span>
      ))}
    </span>
  );
}

function RunCost({ runId }: { readonly runId: string }) {
  return <UsageCost usage={useRunUsage(runId)} />;
}

/** The median duration of its sessions. */
function RunDuration({ runId }: { readonly runId: string }) {
  return <Duration value={useRunUsage(runId)?.durationP50} />;
}
