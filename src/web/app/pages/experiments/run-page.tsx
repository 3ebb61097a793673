// One run: how far it is, its scores by metric, and its datapoints with each score.

import { useEffect, useMemo } from "react";
import { ExecutionService } from "../../../../../gen/waggle/v1/execution_pb.js";
import { type Run, type RunResult, RunService } from "../../../../../gen/waggle/v1/run_pb.js";
import { useRpc } from "../../api/query.ts";
import { Status } from "../../design/badge.tsx";
import { ReadState } from "../../design/states.tsx";
import { Duration, KeyValue, Time, Tokens } from "../../design/values.tsx";
import { Crumbs } from "../../shell/crumbs.tsx";
import { Page } from "../../shell/page.tsx";
import { MetricCard } from "./metric-card.tsx";
import { runRoute } from "./route.tsx";
import { RunDatapoints } from "./run-datapoints.tsx";
import { RunProgressView } from "./run-progress.tsx";
import { booleansOf, namesOf } from "./score.ts";
import { statusTones } from "./status-tones.ts";
import { UsageCost } from "./usage-cost.tsx";
import { useRunUsage } from "./use-run-usage.ts";
import "../../design/layout.css";
import "./experiments.css";

const refreshMs = 2_000;

export function RunPage() {
  const { runId } = runRoute.useParams();
  const progress = useRpc(
    RunService.method.getRunProgress,
    { runId },
    { refreshMs: refreshMs, keepsPrevious: true },
  ).data;
  const { getExecution } = ExecutionService.method;
  const state = useRpc(getExecution, { runId }, { refreshMs }).data?.data?.state;
  const isActive = state === "running" || state === "scoring" || progress?.complete === false;
  const answer = useRpc(
    RunService.method.getRunResult,
    { runId },
    { refreshMs: isActive ? refreshMs : 10_000, keepsPrevious: true },
  );
  const { data, refetch } = answer;
  // Reads the result once more at the end, since scores may have come after the last read.
  useEffect(() => {
    if (!isActive) void refetch();
  }, [isActive, refetch]);
  const datapoints = data?.datapoints;
  const isBoolean = useMemo(() => booleansOf(datapoints ?? []), [datapoints]);
  const run = data?.runObject;
  const title = run?.name ?? runId;
  return (
    <Page
      title={title}
      breadcrumb={<Crumbs list="experiments" name={title} />}
      toolbar={run ? <RunFacts result={data} run={run} isActive={isActive} /> : undefined}
    >
      {data ? (
        <div className="scroll">
          <RunProgressView runId={runId} progress={progress} />
          {data.metrics && data.metrics.details.length > 0 ? (
            <section className="section">
              <h2>Scores</h2>
              <div className="cards">
                {data.metrics.details.map((detail) => (
                  <MetricCard
                    key={`${detail.metricName} ${detail.eventName}`}
                    detail={detail}
                    name={namesOf(data.metrics?.details ?? [])(detail)}
                    isBoolean={isBoolean(detail)}
                  />
                ))}
              </div>
            </section>
          ) : (
            <p className="soft">No scores yet: an evaluator whose filters match makes them.</p>
          )}
          <RunDatapoints datapoints={data.datapoints} version={`${run?.status} ${isActive}`} />
        </div>
      ) : (
        <ReadState read={answer} what="Computing the result" />
      )}
    </Page>
  );
}

type RunFactsProps = {
  readonly result: RunResult;
  readonly run: Run;
  readonly isActive: boolean;
};

function RunFacts({ result: data, run, isActive }: RunFactsProps) {
  const usage = useRunUsage(run.id, { refreshMs: isActive ? refreshMs : 10_000 });
  return (
    <KeyValue
      isRow
      items={[
        {
          label: "Status",
          value: <Status tone={statusTones[run.status] ?? "neutral"}>{run.status}</Status>,
        },
        { label: "Dataset", value: run.datasetName ?? "–" },
        { label: "Passed", value: data.passed.length },
        { label: "Failed", value: data.failed.length },
        { label: "Cost", value: <UsageCost usage={usage} /> },
        {
          label: "Tokens",
          value: (
            <Tokens
              value={usage?.totals?.totalTokens}
              prompt={usage?.totals?.promptTokens}
              completion={usage?.totals?.completionTokens}
            />
          ),
        },
        { label: "Median duration", value: <Duration value={usage?.durationP50} /> },
        { label: "p95 duration", value: <Duration value={usage?.durationP95} /> },
        { label: "Created", value: <Time value={run.createdAt} /> },
      ]}
    />
  );
}
