// One evaluator: its definition with a trial beside it, its scores, versions, backfills, how far it
// agrees with people and with itself, and why an event was scored or not.

import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { EvaluatorService } from "../../../../../gen/waggle/v1/evaluator_pb.js";
import { type Metric, MetricService } from "../../../../../gen/waggle/v1/metric_pb.js";
import { renewAnswers, useRpc } from "../../api/query.ts";
import { Status } from "../../design/badge.tsx";
import { ErrorState, ReadState } from "../../design/states.tsx";
import { type Tab, Tabs } from "../../design/tabs.tsx";
import { formatCounted } from "../../design/format.ts";
import { CostSum, Count, KeyValue } from "../../design/values.tsx";
import { Crumbs } from "../../shell/crumbs.tsx";
import { Page } from "../../shell/page.tsx";
import { Backfills } from "./backfills.tsx";
import { ConsistencyView } from "./consistency-view.tsx";
import { draftDefault, fromMetric } from "./draft.ts";
import { Editor } from "./editor.tsx";
import { Reliability } from "./reliability.tsx";
import { evaluatorRoute } from "./route.tsx";
import { ScoreTrend } from "./score-trend.tsx";
import { ScoresView } from "./scores-view.tsx";
import { Versions } from "./versions.tsx";
import { Why } from "./why.tsx";
import "./evaluators.css";

export function EvaluatorPage() {
  const { metricId } = evaluatorRoute.useParams();
  const isNew = metricId === "new";
  const stored = useRpc(MetricService.method.getMetric, { id: metricId }, { isEnabled: !isNew });
  if (isNew) {
    return (
      <Page title="New evaluator" breadcrumb={<Crumbs list="evaluators" name="New evaluator" />}>
        <Editor first={draftDefault} />
      </Page>
    );
  }
  if (stored.data) return <EvaluatorView metric={stored.data} />;
  return (
    <Page title="Evaluator" breadcrumb={<Crumbs list="evaluators" name="Evaluator" />}>
      <ReadState read={stored} what="Loading the evaluator" />
    </Page>
  );
}

function EvaluatorView({ metric }: { readonly metric: Metric }) {
  const { tab = "edit" } = evaluatorRoute.useSearch();
  const navigate = useNavigate();
  const isRun = metric.type !== "HUMAN";
  const tabs: readonly (Tab | false)[] = [
    {
      value: "edit",
      label: "Definition",
      content: (
        <Editor
          key={`${metric.id} ${metric.version} ${metric.enabledInProd}`}
          metric={metric}
          first={fromMetric(metric)}
        />
      ),
    },
    { value: "scores", label: "Scores", content: <ScoresView metric={metric} /> },
    { value: "versions", label: "Versions", content: <Versions metric={metric} /> },
    isRun && { value: "backfills", label: "Backfills", content: <Backfills metric={metric} /> },
    isRun && { value: "why", label: "Why", content: <Why metric={metric} /> },
    isRun && {
      value: "reliability",
      label: "Agreement with people",
      content: <Reliability metric={metric} />,
    },
    metric.type === "LLM" && {
      value: "consistency",
      label: "Agreement with itself",
      content: <ConsistencyView key={`${metric.id} ${metric.version}`} metric={metric} />,
    },
  ];
  return (
    <Page
      title={metric.name}
      breadcrumb={<Crumbs list="evaluators" name={metric.name} />}
      {...(isRun && { toolbar: <Health metric={metric} /> })}
    >
      <Tabs
        label="Evaluator"
        tabs={tabs}
        // A link may name a tab that the evaluator lacks: nothing runs where people judge.
        value={tabs.some((one) => one && one.value === tab) ? tab : "edit"}
        onChange={(next) => void navigate({ to: ".", search: { tab: next } })}
      />
    </Page>
  );
}

function Health({ metric }: { readonly metric: Metric }) {
  const { data, error } = useRpc(
    EvaluatorService.method.getMetricStatus,
    { id: metric.id },
    { refreshMs: 5_000 },
  );
  const client = useQueryClient();
  const isEnabled = data?.data?.enabled ?? metric.enabledInProd;
  useEffect(() => {
    // It was disabled after its failures, or by another person.
    if (isEnabled === metric.enabledInProd) return;
    void renewAnswers(client, [MetricService.method.getMetric]);
  }, [client, isEnabled, metric.enabledInProd]);
  if (error) return <ErrorState error={error} isInline />;
  const status = data?.data;
  if (!status) return <span>Loading health…</span>;
  const { disabledReason, enabled, lastFailure } = status;
  return (
    <>
      <span className="evaluator-health">
        <Status tone={disabledReason === undefined ? (enabled ? "good" : "neutral") : "bad"}>
          {disabledReason ?? (enabled ? "runs on events as they come" : "does not run by itself")}
        </Status>
      </span>
      <KeyValue
        isRow
        items={[
          { label: "Average in 7 days", value: <ScoreTrend metric={metric} /> },
          { label: "Scored in 7 days", value: <Count value={status.scored} /> },
          { label: "Failed", value: <Count value={status.failed} /> },
          { label: "Waiting", value: <Count value={status.queued + status.running} /> },
          metric.type === "LLM" && {
            label: "Cost of the judge",
            value: <CostSum value={status.judgeCost} />,
          },
          status.judgeUnpriced > 0 && {
            label: "Without a known price",
            value: formatCounted(status.judgeUnpriced, "call"),
          },
          status.failuresInRow > 0 && {
            label: "Failures in a row",
            value: `${status.failuresInRow} of ${status.failuresInRowMax}`,
          },
        ]}
      />
      {lastFailure === undefined || disabledReason !== undefined ? null : (
        <p className="evaluator-failure truncate" title={lastFailure}>
          Last failure: {lastFailure}
        </p>
      )}
    </>
  );
}
