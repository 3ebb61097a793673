// ComparedMetric: one metric of two runs: both aggregates, how many datapoints became better and
// worse, and the test in plain words; of texts, how often each is a score.

import type { RunMetricComparison } from "../../../../../gen/waggle/v1/run_pb.js";
import { Badge } from "../../design/badge.tsx";
import { formatCount, formatCounted, formatScore } from "../../design/format.ts";
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
      {Object.keys({ ...metric.oldTexts, ...metric.newTexts }).length === 0 ? (
        <p className="soft">{formatDifference(metric)}</p>
      ) : (
        <ComparedTexts metric={metric} />
      )}
    </article>
  );
}

const textsShown = 5;

/** How often each text is a score in either run, the most frequent first. */
function ComparedTexts({ metric }: { readonly metric: RunMetricComparison }) {
  const { oldTexts, newTexts, changed, improvedCount, degradedCount, foundCount } = metric;
  const rows = Object.keys({ ...oldTexts, ...newTexts })
    .map((text) => ({ text, before: oldTexts[text] ?? 0, after: newTexts[text] ?? 0 }))
    .toSorted((a, b) => b.before + b.after - (a.before + a.after));
  const most = Math.max(...rows.map(({ before, after }) => Math.max(before, after)));
  const rest = rows.slice(textsShown);
  const isJudged = improvedCount + degradedCount > 0;
  return (
    <>
      <ul className="counts" aria-label="How often each value is a score, base and new">
        {rows.slice(0, textsShown).map(({ text, before, after }) => (
          <li key={text}>
            <span className="truncate" title={text}>
              {text}
            </span>
            <span className="counts-pair" aria-hidden>
              <span className="counts-bar" data-run="base" style={widthOf(before, most)} />
              <span className="counts-bar" style={widthOf(after, most)} />
            </span>
            <span className="numeric">
              {formatCount(before)} → {formatCount(after)}
            </span>
          </li>
        ))}
        {rest.length === 0 ? null : <li>{formatCounted(rest.length, "other value")}</li>}
      </ul>
      <p className="soft">
        {`${formatCount(changed.length)} of ${formatCounted(foundCount, "datapoint")} changed`}
        {isJudged
          ? `; ${formatCount(improvedCount)} better, ${formatCount(degradedCount)} worse`
          : ""}
      </p>
    </>
  );
}

function widthOf(count: number, most: number) {
  return { width: `${(count / most) * 100}%` };
}
