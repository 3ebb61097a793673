// Versions: every definition that an evaluator had, what each changed, and the way back to it.

import { toJson } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import { useNavigate } from "@tanstack/react-router";
import { EvaluatorService } from "../../../../../gen/waggle/v1/evaluator_pb.js";
import { type Metric, MetricService } from "../../../../../gen/waggle/v1/metric_pb.js";
import {
  type MetricFieldChange,
  type MetricVersion,
  MetricVersionService,
} from "../../../../../gen/waggle/v1/metric_version_pb.js";
import { useRpc, useRpcMutation } from "../../api/query.ts";
import { Badge } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { diffLines } from "../../design/diff-lines.ts";
import { ErrorState, ReadState } from "../../design/states.tsx";
import { TextDiff } from "../../design/text-diff.tsx";
import { showToast } from "../../design/toast.tsx";
import { Time } from "../../design/values.tsx";
import { useMay } from "../../session/use-may.ts";
import { evaluatorRoute } from "./route.tsx";

const changes = [
  MetricService.method.getMetric,
  MetricService.method.listMetrics,
  MetricVersionService.method.listMetricVersions,
  EvaluatorService.method.getMetricStatus,
];

export function Versions({ metric }: { readonly metric: Metric }) {
  const { version } = evaluatorRoute.useSearch();
  const navigate = useNavigate();
  const answer = useRpc(MetricVersionService.method.listMetricVersions, { id: metric.id });
  const { data, error } = answer;
  if (error || !data) return <ReadState read={answer} what="Loading versions" />;
  const versions = data.data.toReversed();
  const shown = versions.find(({ name }) => name === version) ?? versions[0];
  const deployed = versions.find((one) => one.deployed);
  const show = (name: string) =>
    void navigate({ to: ".", search: { tab: "versions", version: name } });
  return (
    <div className="versions">
      <ul aria-label="Versions">
        {versions.map((one) => (
          <li key={one.name}>
            <button
              type="button"
              aria-current={one.name === shown?.name}
              onClick={() => show(one.name)}
            >
              <b>{one.name}</b>
              {one.deployed ? <Badge tone="good">current</Badge> : null}
              <Time value={one.date} />
              <span className="truncate" title={`${one.message}, by ${one.createdBy}`}>
                {one.message}, by {one.createdBy}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {shown ? (
        <VersionView
          key={shown.name}
          metric={metric}
          versions={versions}
          shown={shown}
          deployed={deployed}
        />
      ) : null}
    </div>
  );
}

type VersionViewProps = {
  readonly metric: Metric;
  readonly versions: readonly MetricVersion[];
  readonly shown: MetricVersion;
  readonly deployed: MetricVersion | undefined;
};

function VersionView({ metric, versions, shown, deployed }: VersionViewProps) {
  const { id } = metric;
  const { name } = shown;
  const may = useMay();
  const criteria = shown.content?.["criteria"];
  const onDone = () => showToast({ text: `The definition of ${name} is the current one now` });
  const deploy = useRpcMutation(MetricVersionService.method.deployMetricVersion, {
    changes,
    onDone,
  });
  const restore = useRpcMutation(MetricVersionService.method.restoreMetricVersion, {
    changes,
    onDone,
  });
  const before = versions[versions.indexOf(shown) + 1];
  const other = shown.deployed ? before : deployed;
  const failure = deploy.error ?? restore.error;
  return (
    <section aria-label={`Version ${name}`}>
      <header>
        <h2>
          {other === undefined
            ? `${name}, the first version`
            : shown.deployed
              ? `What ${name} changed in ${other.name}`
              : `${name} beside ${other.name}, the current one`}
        </h2>
        {!shown.deployed && may(MetricVersionService.method.restoreMetricVersion) ? (
          <Button
            size="small"
            busyLabel={restore.isPending && "Restoring…"}
            onClick={() => restore.mutate({ id, name })}
          >
            Restore as a new version
          </Button>
        ) : null}
        {!shown.deployed && may(MetricVersionService.method.deployMetricVersion) ? (
          <Button
            size="small"
            busyLabel={deploy.isPending && "Deploying…"}
            onClick={() => deploy.mutate({ id, name })}
          >
            Deploy
          </Button>
        ) : null}
      </header>
      {failure ? <ErrorState error={failure} isInline /> : null}
      {other ? (
        <Comparison
          metric={metric}
          from={shown.deployed ? other.name : name}
          to={shown.deployed ? name : other.name}
        />
      ) : (
        <pre className="diff">
          <span>{typeof criteria === "string" ? criteria : ""}</span>
        </pre>
      )}
    </section>
  );
}

type ComparisonProps = {
  readonly metric: Metric;
  readonly from: string;
  readonly to: string;
};

function Comparison({ metric, from, to }: ComparisonProps) {
  const answer = useRpc(MetricVersionService.method.compareMetricVersions, {
    id: metric.id,
    name: from,
    other: to,
  });
  const { data, error } = answer;
  if (error || !data) return <ReadState read={answer} what="Comparing" />;
  const found = data.data?.changes ?? [];
  if (found.length === 0) return <p>The two are the same.</p>;
  return found.map((change) => <FieldChange key={change.field} change={change} />);
}

function FieldChange({ change }: { readonly change: MetricFieldChange }) {
  const { field, before, after } = change;
  return (
    <div className="field-change">
      <h3>{field}</h3>
      <TextDiff label={field} lines={diffLines(textOf(before), textOf(after))} />
    </div>
  );
}

function textOf(value: Value | undefined): string {
  const json = value === undefined ? null : toJson(ValueSchema, value);
  if (typeof json === "string") return json;
  return json === null ? "none" : JSON.stringify(json, null, 2);
}
