// ComparedMetric: one metric of two runs: both aggregates, how many datapoints became better and
// worse, and the test in plain words.

import type { RunMetricComparison } from "../../../../../gen/waggle/v1/run_pb.js";
import { Badge } from "../../design/badge.tsx";
import { formatScore } from "../../design/format.ts";
import { formatDifference, isClear, verdictOf } from "./score.ts";

const kinds = [
  { kind: "improved", word: "better" },
  { kind: "degraded", word: "worse" },
  { kind: "same", word: "same" },
] as const;

type ComparedMetricProps = { readonly metric: RunMetricComparison; readonly name: string };

export function ComparedMetric({ metric, name }: ComparedMetricProps) {
  const { metricName, eventName, oldAggregate, newAggregate } = metric;
  const counts = {
    improved: metric.improvedCount,
    degraded: metric.degradedCount,
    same: metric.sameCount,
  };
  return (
    <article className="card" aria-label={name}>
      <header>
        <b className="truncate" title={`${metricName} on ${eventName}`}>
          {name}
        </b>
        {metric.pairedTest ? (
          <Badge tone={isClear(metric) ? "info" : "neutral"}>{verdictOf(metric)}</Badge>
        ) : null}
      </header>
      {oldAggregate === undefined && newAggregate === undefined ? null : (
        <>
          <p className="numeric">
            {formatScore(oldAggregate)} → <b className="card-value">{formatScore(newAggregate)}</b>
          </p>
          <div className="change-bar" aria-hidden>
            {kinds.map(({ kind }) => (
              <span key={kind} data-kind={kind} style={{ flexGrow: counts[kind] }} />
            ))}
          </div>
          <p className="change-counts">
            {kinds.map(({ kind, word }) => (
              <span key={kind} className="numeric">
                {counts[kind]} {word}
              </span>
            ))}
          </p>
        </>
      )}
      <p className="soft">{formatDifference(metric)}</p>
    </article>
  );
}
