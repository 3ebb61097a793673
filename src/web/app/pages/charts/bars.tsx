// Bars: a histogram of a number, a column for each range of values.

import { formatCounted, formatExactCount } from "../../design/format.ts";
import { bucketName, formatOf } from "./answer.ts";
import type { BarListProps } from "./bar-list.tsx";

export function Bars({ label, answer, onOpen }: BarListProps) {
  const { buckets, series, measures } = answer;
  const values = series[0]?.values ?? [];
  const greatest = Math.max(...values.map((value) => value ?? 0), 0);
  const format = formatOf({ metric: measures[0]?.metric ?? "" });
  const [first] = buckets;
  const last = buckets.at(-1);
  return (
    <div className="bars" role="group" aria-label={label}>
      <span className="bars-top numeric">{formatExactCount(greatest)}</span>
      <div className="bars-columns">
        {buckets.map((bucket, at) => {
          const count = values[at] ?? 0;
          const name = `${bucketName(bucket, format)}: ${formatCounted(count, "event")}`;
          return (
            <button
              key={at}
              type="button"
              aria-label={name}
              title={name}
              onClick={() => onOpen({ bucket })}
            >
              <span style={{ height: `${greatest === 0 ? 0 : (count / greatest) * 100}%` }} />
            </button>
          );
        })}
      </div>
      <div className="bars-axis numeric" aria-hidden>
        <span>{first?.kind === "bounds" ? format(first.from) : ""}</span>
        <span>{last?.kind === "bounds" ? format(last.to) : ""}</span>
      </div>
    </div>
  );
}
