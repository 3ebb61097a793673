// The list of evaluators: what they are, whether they run, and how they fare.

import { Link } from "@tanstack/react-router";
import { Gauge, Plus } from "lucide-react";
import { EvaluatorService } from "../../../../../gen/waggle/v1/evaluator_pb.js";
import { type Metric, MetricService } from "../../../../../gen/waggle/v1/metric_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { sharedRefreshMs, useRpc, useRpcMutation } from "../../api/query.ts";
import { Badge, Status } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { formatCount } from "../../design/format.ts";
import { Switch } from "../../design/input.tsx";
import { EmptyState } from "../../design/states.tsx";
import type { Column } from "../../design/table.tsx";
import { useMay } from "../../session/use-may.ts";
import { useCommands } from "../../shell/commands.ts";
import { ItemTable } from "../../shell/item-table.tsx";
import { Page } from "../../shell/page.tsx";
import { useItemPages } from "../../shell/row-pages.ts";
import { typeNames } from "./draft.ts";
import { ScoreTrend } from "./score-trend.tsx";
import "./evaluators.css";

const columns: readonly Column<Metric>[] = [
  {
    id: "name",
    header: "Evaluator",
    width: 200,
    grow: 1,
    cell: ({ name, description }) => (
      <span className="truncate" title={description || name}>
        {name}
      </span>
    ),
    sortValue: ({ name }) => name,
  },
  {
    id: "type",
    header: "Type",
    width: 112,
    cell: ({ type }) => <Badge>{typeNames[type] ?? type}</Badge>,
    sortValue: ({ type }) => type,
  },
  {
    id: "runs",
    isMajor: true,
    header: "Runs",
    width: 88,
    hasControl: true,
    cell: (metric) => <Enabled metric={metric} />,
  },
  {
    id: "health",
    header: "Last 7 days",
    width: 220,
    cell: (metric) => <Health metric={metric} />,
  },
  {
    id: "score",
    header: "Average",
    width: 140,
    cell: (metric) => <ScoreTrend metric={metric} />,
  },
  {
    id: "sampling",
    header: "Sampling",
    width: 84,
    align: "end",
    cell: ({ type, samplingPercentage }) => (
      <span className="numeric">{type === "HUMAN" ? "–" : `${samplingPercentage} %`}</span>
    ),
  },
  { id: "returns", header: "Returns", width: 96, cell: ({ returnType }) => returnType },
  { id: "version", header: "Version", width: 76, align: "end", cell: ({ version }) => version },
];

function Enabled({ metric }: { readonly metric: Metric }) {
  const update = useRpcMutation(MetricService.method.updateMetric, {
    changes: [MetricService.method.listMetrics, EvaluatorService.method.getMetricStatus],
  });
  const mayChange = useMay()(MetricService.method.updateMetric);
  if (metric.type === "HUMAN") return <span aria-label="does not run">–</span>;
  const isOn = metric.enabledInProd;
  if (!mayChange) return isOn ? "on" : "off";
  return (
    <span onClick={(event) => event.stopPropagation()}>
      <Switch
        label={<span className="visually-hidden">Run {metric.name} on events as they come</span>}
        checked={isOn}
        aria-disabled={update.isPending}
        onChange={(next) => {
          if (!update.isPending) update.mutate({ id: metric.id, enabledInProd: next });
        }}
      />
    </span>
  );
}

function Health({ metric }: { readonly metric: Metric }) {
  const isRun = metric.type !== "HUMAN";
  const { data, error } = useRpc(
    EvaluatorService.method.getMetricStatus,
    { id: metric.id },
    { isEnabled: isRun, refreshMs: 30_000 },
  );
  const status = data?.data;
  if (!isRun) return <span>people score it</span>;
  if (error && !status) {
    return (
      <span className="truncate" title={error.message}>
        not known: {error.message}
      </span>
    );
  }
  // A cell of a list is a link, which has a name from the start.
  if (!status) return <span className="visually-hidden">loading</span>;
  if (status.disabledReason !== undefined) {
    return (
      <Status tone="bad">
        <span className="truncate" title={status.disabledReason}>
          {status.disabledReason}
        </span>
      </Status>
    );
  }
  const { scored, failed, queued, running } = status;
  const waiting = queued + running;
  if (scored + failed + waiting === 0) return <Status>no runs</Status>;
  return (
    <Status tone={failed === 0 ? "good" : failed > scored ? "bad" : "warn"}>
      <span className="numeric">
        {formatCount(scored)} scored{failed > 0 ? `, ${formatCount(failed)} failed` : ""}
        {waiting > 0 ? `, ${formatCount(waiting)} waiting` : ""}
      </span>
    </Status>
  );
}

export function EvaluatorsPage() {
  const projectId = useCurrentProjectId();
  const list = useRpc(MetricService.method.listMetrics, {}, { refreshMs: sharedRefreshMs });
  const { onOpen } = useItemPages("evaluators");
  const mayCreate = useMay()(MetricService.method.createMetric);
  const create = () => onOpen({ id: "new" });
  useCommands([
    mayCreate && { id: "evaluators.new", title: "New evaluator", keys: "n", run: create },
  ]);
  const newLink = mayCreate && (
    <Button asChild variant="primary">
      <Link to="/app/p/$projectId/evaluators/$metricId" params={{ projectId, metricId: "new" }}>
        <Plus aria-hidden /> New evaluator
      </Link>
    </Button>
  );
  return (
    <Page title="Evaluators" actions={newLink}>
      <ItemTable
        path="evaluators"
        label="Evaluators"
        read={list}
        columns={columns}
        rows={list.data?.metrics}
        toneOf={({ disabledReason }) => (disabledReason === undefined ? undefined : "bad")}
        empty={
          <EmptyState icon={<Gauge />} title="No evaluators yet" action={newLink}>
            An evaluator scores events as they come: with Python, with a model that judges, or by
            people in queues. Try it on your own events before you save it.
          </EmptyState>
        }
      />
    </Page>
  );
}
