// MetricCard: the aggregate of a metric, and how its values are distributed.

import type { RunMetricDetail } from "../../../../../gen/waggle/v1/run_pb.js";
import { Badge } from "../../design/badge.tsx";
import { formatScore } from "../../design/format.ts";
import { toBins } from "./bins.ts";

type MetricCardProps = { readonly detail: RunMetricDetail; readonly name: string };

export function MetricCard({ detail, name }: MetricCardProps) {
  const { metricType, eventName, aggregate, values, texts, datapoints } = detail;
  const words = Object.entries(texts).toSorted(([, a], [, b]) => b - a);
  return (
    <article className="card" aria-label={name}>
      <header>
        <b className="truncate" title={name}>
          {name}
        </b>
        <Badge>{metricType.toLowerCase().replace("_", " ")}</Badge>
      </header>
      <p>
        <span className="card-value numeric">{formatScore(aggregate)}</span>{" "}
        <span className="faint">average of {values.length}</span>
      </p>
      {values.length > 1 ? <Bins values={values} /> : null}
      {words.slice(0, 5).map(([text, count]) => (
        <p key={text} className="faint truncate" title={text}>
          <span className="numeric">{count}</span> × {text}
        </p>
      ))}
      <p className="faint">
        {datapoints?.passed.length ?? 0} passed, {datapoints?.failed.length ?? 0} failed, on{" "}
        {eventName}
      </p>
    </article>
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
