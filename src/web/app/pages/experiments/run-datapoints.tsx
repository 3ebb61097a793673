// RunDatapoints: the datapoints of a run with each score; a row opens the session behind it.

import { useCallback, useMemo } from "react";
import type { RunDatapoint, RunDatapointMetric } from "../../../../../gen/waggle/v1/run_pb.js";
import { Status } from "../../design/badge.tsx";
import { formatScore } from "../../design/format.ts";
import { type Column, Table } from "../../design/table.tsx";
import { Segments } from "../../design/tabs.tsx";
import { Identifier } from "../../design/values.tsx";
import { useRowPages } from "../../shell/row-pages.ts";
import { useSearchChange } from "../../shell/search.ts";
import { fromValue } from "../datasets/to-value.ts";
import type { EventSummary } from "../traces/event-summary.ts";
import { AnswerLine, QuestionLine } from "../traces/summary-line.tsx";
import { useSummariesOf } from "../traces/use-event-summaries.ts";
import { runRoute, type RunSearch } from "./route.tsx";
import { namesOf } from "./score.ts";

export type RunDatapointsProps = {
  readonly datapoints: readonly RunDatapoint[];
  /** Changes when outputs may have come since. */
  readonly version: string;
};

export function RunDatapoints({ datapoints, version }: RunDatapointsProps) {
  const { projectId } = runRoute.useParams();
  const { show } = runRoute.useSearch();
  const setSearch = useSearchChange<RunSearch>();
  const rowPages = useRowPages(
    useCallback(
      ({ sessionId }: Row) => ({
        to: "/app/p/$projectId/traces/$sessionId",
        params: { projectId, sessionId },
      }),
      [projectId],
    ),
  );
  const summaries = useSummariesOf(
    useMemo(() => datapoints.map(({ sessionId }) => sessionId), [datapoints]),
    version,
  );
  const rows = useMemo(
    () =>
      datapoints
        .filter(({ passed }) => show === undefined || passed === (show === "passed"))
        .map((datapoint) => ({ ...datapoint, summary: summaries.get(datapoint.sessionId) })),
    [datapoints, show, summaries],
  );
  const columns = useMemo(() => columnsOf(datapoints), [datapoints]);
  return (
    <section className="section">
      <h2>Datapoints</h2>
      <div>
        <Segments
          label="Datapoints shown"
          value={show ?? "all"}
          options={[
            { value: "all", label: "All" },
            { value: "passed", label: "Passed" },
            { value: "failed", label: "Failed" },
          ]}
          onChange={(next) =>
            setSearch({ show: next === "passed" || next === "failed" ? next : undefined })
          }
        />
      </div>
      <div className="run-table">
        <Table
          label="Datapoints of the run"
          isMain
          columns={columns}
          rows={rows}
          idOf={({ datapointId, sessionId }) => `${datapointId ?? ""} ${sessionId}`}
          {...rowPages}
          empty={<p className="soft scroll">No datapoint here.</p>}
          toneOf={({ passed }) => (passed ? undefined : "bad")}
        />
      </div>
    </section>
  );
}

/** A datapoint with the question and the answer of its session. */
type Row = RunDatapoint & { readonly summary: EventSummary | null | undefined };

const resultColumns: readonly Column<Row>[] = [
  {
    id: "result",
    header: "Result",
    width: 100,
    sortValue: ({ passed }) => (passed ? 1 : 0),
    cell: ({ passed }) => (
      <Status tone={passed ? "good" : "bad"}>{passed ? "passed" : "failed"}</Status>
    ),
  },
  {
    id: "input",
    isMajor: true,
    header: "Input",
    width: 180,
    grow: 3,
    cell: ({ summary }) => <QuestionLine summary={summary} />,
  },
  {
    id: "output",
    header: "Output",
    width: 180,
    grow: 3,
    cell: ({ summary }) => <AnswerLine summary={summary} />,
  },
];

const idColumns: readonly Column<Row>[] = [
  {
    id: "datapoint",
    header: "Datapoint",
    width: 180,
    hasControl: true,
    cell: ({ datapointId }) =>
      datapointId === undefined ? <span>–</span> : <Identifier value={datapointId} />,
  },
];

/** Returns a column for each metric, and for each kind of event where it scored several. */
function columnsOf(datapoints: readonly RunDatapoint[]): readonly Column<Row>[] {
  const scores = datapoints.flatMap(({ metrics }) => metrics);
  const kinds = new Map(
    scores.map((score) => [
      keyOf(score),
      { metricName: score.name, eventName: score.eventName, key: keyOf(score) },
    ]),
  );
  const nameOf = namesOf([...kinds.values()]);
  const metricColumns = [...kinds.values()].map((kind, index): Column<Row> => {
    const scoresOf = ({ metrics }: Row) => metrics.filter((score) => keyOf(score) === kind.key);
    return {
      id: `metric-${index}`,
      header: nameOf(kind),
      width: 120,
      align: "end",
      sortValue: (row) => leastOf(scoresOf(row)),
      cell: (row) => <Scores scores={scoresOf(row)} />,
    };
  });
  return [...resultColumns, ...metricColumns, ...idColumns];
}

function keyOf({ name, eventName }: RunDatapointMetric): string {
  return JSON.stringify([name, eventName]);
}

/** Returns the least of the scores that are numbers or booleans, to sort by. */
function leastOf(scores: readonly RunDatapointMetric[]): number | undefined {
  const numbers = scores
    .map(({ value }) => fromValue(value))
    .filter((value) => typeof value === "number" || typeof value === "boolean")
    .map(Number);
  return numbers.length === 0 ? undefined : Math.min(...numbers);
}

/** Shows every score that a metric gave events of one name, such as calls of a model in a loop. */
function Scores({ scores }: { readonly scores: readonly RunDatapointMetric[] }) {
  if (scores.length === 0) return "–";
  return (
    <span className="numeric truncate" title={scores.map(explainOne).join(", ")}>
      {scores.map(formatOne).join(", ")}
    </span>
  );
}

function formatOne({ value: given, failure }: RunDatapointMetric): string {
  if (failure !== undefined) return "failed";
  const value = fromValue(given);
  if (typeof value === "number") return formatScore(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

function explainOne(score: RunDatapointMetric): string {
  return score.failure ?? formatOne(score);
}
