// Comparison: two runs side by side, with what the statistics say, and the datapoints that became
// worse first.

import { ArrowLeftRight } from "lucide-react";
import { useCallback, useMemo } from "react";
import { type RunComparison, RunService } from "../../../../../gen/waggle/v1/run_pb.js";
import { useRpc } from "../../api/query.ts";
import { Badge } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { idColumn } from "../../design/columns.tsx";
import { ReadState } from "../../design/states.tsx";
import { type Column, Table } from "../../design/table.tsx";
import { KeyValue } from "../../design/values.tsx";
import { Crumbs } from "../../shell/crumbs.tsx";
import { Page } from "../../shell/page.tsx";
import { useRowPages } from "../../shell/row-pages.ts";
import { useSearchChange } from "../../shell/search.ts";
import type { EventSummary } from "../traces/event-summary.ts";
import { QuestionLine } from "../traces/summary-line.tsx";
import { useSummariesOf } from "../traces/use-event-summaries.ts";
import { ComparedMetric } from "./compared-metric.tsx";
import { ComparedOutputs } from "./compared-outputs.tsx";
import { ComparedUsage } from "./compared-usage.tsx";
import { namesOf } from "./score.ts";
import { experimentsRoute, type ExperimentsSearch } from "./route.tsx";

export type ComparisonProps = { readonly baseId: string; readonly newId: string };

export function Comparison({ baseId, newId }: ComparisonProps) {
  const setSearch = useSearchChange<ExperimentsSearch>();
  const answer = useRpc(RunService.method.compareRuns, {
    newRunId: newId,
    oldRunId: baseId,
  });
  const { data } = answer;
  return (
    <Page
      title="Comparison of two runs"
      breadcrumb={<Crumbs list="experiments" name="Comparison" />}
      actions={
        <Button
          size="small"
          icon={<ArrowLeftRight />}
          onClick={() => setSearch({ base: newId, new: baseId })}
        >
          Swap
        </Button>
      }
      toolbar={
        <KeyValue
          isRow
          items={[
            { label: "Base", value: data?.oldRun?.name ?? baseId },
            { label: "New", value: data?.newRun?.name ?? newId },
            { label: "Datapoints of both", value: data?.commonDatapoints.length ?? "–" },
          ]}
        />
      }
    >
      {data ? (
        <div className="scroll">
          {data.metrics.length === 0 ? (
            <p className="soft">
              Neither run has scores: an evaluator whose filters match makes them.
            </p>
          ) : (
            <div className="cards">
              {data.metrics.map((metric) => (
                <ComparedMetric
                  key={`${metric.metricName} ${metric.eventName}`}
                  metric={metric}
                  name={namesOf(data.metrics)(metric)}
                />
              ))}
            </div>
          )}
          {data.oldRun && data.newRun ? (
            <ComparedUsage base={data.oldRun} newer={data.newRun} />
          ) : null}
          <ComparedDatapoints comparison={data} baseId={baseId} newId={newId} />
          <ComparedOutputs baseId={baseId} newId={newId} />
        </div>
      ) : (
        <ReadState read={answer} what="Comparing the runs" />
      )}
    </Page>
  );
}

type Row = {
  readonly id: string;
  readonly degraded: readonly string[];
  readonly improved: readonly string[];
  /** Metrics whose text is another one, neither better nor worse. */
  readonly changed: readonly string[];
  /** Question and answer of the new run's session. */
  readonly summary?: EventSummary | null | undefined;
};

const columns: readonly Column<Row>[] = [
  {
    id: "input",
    header: "Input",
    width: 240,
    grow: 2,
    cell: ({ summary }) => <QuestionLine summary={summary} />,
  },
  {
    id: "degraded",
    header: "Worse by",
    width: 220,
    grow: 1,
    cell: ({ degraded }) => <Names names={degraded} tone="bad" />,
  },
  {
    id: "improved",
    header: "Better by",
    width: 220,
    grow: 1,
    cell: ({ improved }) => <Names names={improved} tone="good" />,
  },
  {
    id: "changed",
    header: "Changed",
    width: 140,
    grow: 1,
    cell: ({ changed }) => <Names names={changed} tone="neutral" />,
  },
  idColumn({ id: "datapoint", header: "Datapoint", width: 180, idOf: ({ id }) => id }),
];

function Names({
  names,
  tone,
}: {
  readonly names: readonly string[];
  readonly tone: "bad" | "good" | "neutral";
}) {
  if (names.length === 0) return "–";
  return names.map((name) => (
    <Badge key={name} tone={tone}>
      {name}
    </Badge>
  ));
}

type ComparedDatapointsProps = ComparisonProps & { readonly comparison: RunComparison };

function ComparedDatapoints({ comparison, baseId, newId }: ComparedDatapointsProps) {
  const { projectId } = experimentsRoute.useParams();
  const { datapoint } = experimentsRoute.useSearch();
  const rowPages = useRowPages(
    useCallback(
      ({ id }: Row) => ({
        to: "/app/p/$projectId/experiments",
        params: { projectId },
        search: { base: baseId, new: newId, datapoint: id },
      }),
      [projectId, baseId, newId],
    ),
  );
  const summaryOf = useSummaryOfDatapoint(newId);
  const rows = useMemo(
    () => rowsOf(comparison).map((row) => ({ ...row, summary: summaryOf(row.id) })),
    [comparison, summaryOf],
  );
  const hasTexts = comparison.metrics.some(({ changed }) => changed.length > 0);
  return (
    <section className="section">
      <h2>Datapoints, the worse ones first</h2>
      <div className="run-table">
        <Table
          label="Compared datapoints"
          isMain
          columns={hasTexts ? columns : columns.filter(({ id }) => id !== "changed")}
          rows={rows}
          idOf={({ id }) => id}
          openId={datapoint}
          {...rowPages}
          empty={<p className="soft scroll">The runs share no datapoint.</p>}
          toneOf={({ degraded }) => (degraded.length > 0 ? "bad" : undefined)}
        />
      </div>
    </section>
  );
}

/** Finds the summary of a datapoint by its session in a run, which the comparison does not name. */
function useSummaryOfDatapoint(runId: string): (datapointId: string) => Row["summary"] {
  const { data, error } = useRpc(RunService.method.getRunResult, { runId }, { staleMs: 60_000 });
  const sessions = useMemo(
    () => new Map(data?.datapoints.map((one) => [one.datapointId, one.sessionId])),
    [data],
  );
  const summaries = useSummariesOf(useMemo(() => [...sessions.values()], [sessions]));
  return useCallback(
    (datapointId) => {
      const sessionId = sessions.get(datapointId);
      if (sessionId !== undefined) return summaries.get(sessionId);
      return data || error ? null : undefined;
    },
    [data, error, sessions, summaries],
  );
}

function rowsOf({ commonDatapoints, metrics }: RunComparison): readonly Row[] {
  const nameOf = namesOf(metrics);
  const names = (kind: "degraded" | "improved" | "changed"): Map<string, string[]> => {
    const byId = new Map<string, string[]>();
    for (const metric of metrics) {
      for (const id of metric[kind]) byId.set(id, [...(byId.get(id) ?? []), nameOf(metric)]);
    }
    return byId;
  };
  const [degraded, improved, changed] = [names("degraded"), names("improved"), names("changed")];
  return commonDatapoints
    .map((id) => {
      const [worse, better] = [degraded.get(id) ?? [], improved.get(id) ?? []];
      const judged = [...worse, ...better];
      const others = (changed.get(id) ?? []).filter((name) => !judged.includes(name));
      return { id, degraded: worse, improved: better, changed: others };
    })
    .toSorted(
      (a, b) =>
        b.degraded.length - a.degraded.length ||
        b.improved.length - a.improved.length ||
        b.changed.length - a.changed.length,
    );
}
