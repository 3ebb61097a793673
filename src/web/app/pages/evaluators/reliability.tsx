// Reliability: how far the scores of an evaluator agree with those of people on the same events.

import { type ReactNode, useState } from "react";
import { EvaluatorService } from "../../../../../gen/waggle/v1/evaluator_pb.js";
import { type Metric, MetricService } from "../../../../../gen/waggle/v1/metric_pb.js";
import type {
  MetricReliability,
  ReliabilityGroup,
  ReliabilitySummary,
} from "../../../../../gen/waggle/v1/reliability_pb.js";
import { useRpc } from "../../api/query.ts";
import { formatCounted } from "../../design/format.ts";
import { Select } from "../../design/input.tsx";
import { EmptyState, ReadState } from "../../design/states.tsx";
import { Identifier } from "../../design/values.tsx";
import { formatScore } from "./trial-result.tsx";

export function Reliability({ metric }: { readonly metric: Metric }) {
  const answer = useRpc(MetricService.method.listMetrics, { type: "HUMAN" });
  const { data, error } = answer;
  const [against, setAgainst] = useState<string>();
  if (error || !data) return <ReadState read={answer} what="Loading the scores of people" />;
  const [first] = data.metrics;
  if (!first) {
    return (
      <EmptyState title="No scores of people yet">
        Once an evaluator of type People has scores from a queue, this page shows how far the two
        agree.
      </EmptyState>
    );
  }
  const chosen = against ?? first.id;
  return (
    <div className="reliability">
      <label className="reliability-against">
        Beside the scores of{" "}
        <Select
          value={chosen}
          options={data.metrics.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={setAgainst}
        />
      </label>
      <Agreement metric={metric} against={chosen} />
    </div>
  );
}

function Agreement({ metric, against }: { readonly metric: Metric; readonly against: string }) {
  const answer = useRpc(EvaluatorService.method.getMetricReliability, { id: metric.id, against });
  const { data, error } = answer;
  if (error || !data) return <ReadState read={answer} what="Comparing scores" />;
  const found = data.data;
  if (!found?.overall || found.overall.n === 0) {
    return (
      <EmptyState title="No event has both scores">
        People have scored {formatCounted(found?.humanScored ?? 0, "event")}. A backfill over them
        gives them the other score, as does a queue of events that the evaluator has scored.
      </EmptyState>
    );
  }
  return <Statistics found={found} overall={found.overall} />;
}

type StatisticsProps = {
  readonly found: MetricReliability;
  readonly overall: ReliabilitySummary;
};

function Statistics({ found, overall }: StatisticsProps) {
  const groups = [
    { name: "By score of people", rows: found.byScore },
    { name: "By model", rows: found.byModel },
    { name: "By version", rows: found.byVersion },
  ];
  return (
    <>
      <ul className="reliability-numbers" aria-label="Agreement">
        <BigNumber
          name="agreement"
          value={percentOf(overall.agreement)}
          interval={intervalOf(overall.agreementLower, overall.agreementUpper, percentOf)}
        />
        <BigNumber
          name={`kappa${found.kappaWeights === "none" ? "" : `, ${found.kappaWeights} weights`}`}
          value={decimalOf(overall.kappa)}
          interval={intervalOf(overall.kappaLower, overall.kappaUpper, decimalOf)}
        />
        <BigNumber
          name="bias"
          value={decimalOf(overall.bias)}
          interval={intervalOf(overall.biasLower, overall.biasUpper, decimalOf)}
        />
        <BigNumber name="events with both scores" value={String(overall.n)} />
      </ul>
      {groups.map(({ name, rows }) => (
        <Groups key={name} name={name} rows={rows} />
      ))}
      {found.worst.length > 0 ? (
        <ScoreTable
          caption="Largest differences"
          columns={["Event", "People", "Evaluator", "Version"]}
        >
          {found.worst.slice(0, 20).map(({ eventId, human, judge, version }) => (
            <tr key={eventId}>
              <th scope="row">
                <Identifier value={eventId} />
              </th>
              <td>{formatScore(human)}</td>
              <td>{formatScore(judge)}</td>
              <td>{version}</td>
            </tr>
          ))}
        </ScoreTable>
      ) : null}
    </>
  );
}

type BigNumberProps = { readonly name: string; readonly value: string; readonly interval?: string };

export function BigNumber({ name, value, interval }: BigNumberProps) {
  return (
    <li>
      <b className="numeric">{value}</b>
      <span>{name}</span>
      {interval === undefined ? null : <span className="numeric">{interval}</span>}
    </li>
  );
}

type GroupsProps = { readonly name: string; readonly rows: readonly ReliabilityGroup[] };

function Groups({ name, rows }: GroupsProps) {
  if (rows.length === 0) return null;
  return (
    <ScoreTable caption={name} columns={["Group", "Events", "Agreement", "Kappa", "Bias"]}>
      {rows.map(({ key, summary }) => (
        <tr key={key}>
          <th scope="row">{key}</th>
          <td>{summary?.n ?? 0}</td>
          <td>{percentOf(summary?.agreement)}</td>
          <td>{decimalOf(summary?.kappa)}</td>
          <td>{decimalOf(summary?.bias)}</td>
        </tr>
      ))}
    </ScoreTable>
  );
}

type ScoreTableProps = {
  readonly caption: string;
  readonly columns: readonly string[];
  /** Rows. */
  readonly children: ReactNode;
};

export function ScoreTable({ caption, columns, children }: ScoreTableProps) {
  return (
    <table>
      <caption>{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

function percentOf(value: number | undefined): string {
  return value === undefined ? "–" : `${(value * 100).toFixed(1)} %`;
}

function decimalOf(value: number | undefined): string {
  return value === undefined ? "–" : value.toFixed(2);
}

function intervalOf(
  lower: number | undefined,
  upper: number | undefined,
  format: (value: number | undefined) => string,
): string {
  return lower === undefined || upper === undefined
    ? ""
    : `${format(lower)} to ${format(upper)} (95 %)`;
}
