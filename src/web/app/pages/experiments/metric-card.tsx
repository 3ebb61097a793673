// MetricCard: the aggregate of a metric, and how its values are distributed.

import type { RunMetricDetail } from "../../../../../gen/waggle/v1/run_pb.js";
import { Badge } from "../../design/badge.tsx";
import { formatCount, formatCounted, formatScore } from "../../design/format.ts";
import { countBooleans, countFew, toBins } from "./bins.ts";

type MetricCardProps = {
  readonly detail: RunMetricDetail;
  readonly name: string;
  /** Whether its values stand for true and false. */
  readonly isBoolean: boolean;
};

export function MetricCard({ detail, name, isBoolean }: MetricCardProps) {
  const { metricType, eventName, aggregate, values, texts, datapoints } = detail;
  const words = Object.entries(texts).toSorted(([, a], [, b]) => b - a);
  const few = isBoolean ? countBooleans(values) : countFew(values);
  return (
    <article className="card" aria-label={name}>
      <header>
        <b className="truncate" title={name}>
          {name}
        </b>
        <Badge>{metricType.toLowerCase().replace("_", " ")}</Badge>
      </header>
      {values.length === 0 && words.length > 0 ? null : (
        <p>
          <span className="card-value numeric">{formatScore(aggregate)}</span>{" "}
          <span className="faint">average of {values.length}</span>
        </p>
      )}
      {few ? <Counts counts={few} /> : values.length > 1 ? <Bins values={values} /> : null}
      {words.length === 0 ? null : <Counts counts={words} />}
      <p className="faint">
        {datapoints?.passed.length ?? 0} passed, {datapoints?.failed.length ?? 0} failed, on{" "}
        {eventName}
      </p>
    </article>
  );
}

const countsShown = 5;

type CountsProps = { readonly counts: readonly (readonly [name: string, count: number])[] };

/** Each value with a bar of its share; the last line has the number of the others. */
function Counts({ counts }: CountsProps) {
  const all = counts.reduce((sum, [, count]) => sum + count, 0);
  const rest = counts.slice(countsShown);
  return (
    <ul className="counts" aria-label="How often each value is a score">
      {counts.slice(0, countsShown).map(([name, count]) => (
        <li key={name}>
          <span className="truncate" title={name}>
            {name}
          </span>
          <span className="counts-bar" style={{ width: `${(count / all) * 100}%` }} />
          <span className="numeric">{formatCount(count)}</span>
        </li>
      ))}
      {rest.length === 0 ? null : <li>{formatCounted(rest.length, "other value")}</li>}
    </ul>
  );
}

function Bins({ values }: { readonly values: readonly number[] }) {
  const bins = toBins(values);
  const most = Math.max(...bins);
  const least = formatScore(values.reduce((a, b) => Math.min(a, b)));
  const greatest = formatScore(values.reduce((a, b) => Math.max(a, b)));
  if (bins.length === 1) return <p className="faint">Every value is {least}</p>;
  return (
    <div>
      <div className="bins" role="img" aria-label={`Values from ${least} to ${greatest}`}>
        {bins.map((count, index) => (
          <span key={index} title={`${count}`} style={{ height: `${(count / most) * 100}%` }} />
        ))}
      </div>
      <p className="bins-axis faint numeric" aria-hidden>
        <span>{least}</span>
        <span>{greatest}</span>
      </p>
    </div>
  );
}
