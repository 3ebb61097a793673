// NumberTable: an answer as a table, for charts of that kind and for those who do not see pictures.
// Each number leads to its events.

import { formatTime } from "../../design/format.ts";
import { type Answer, bucketName, formatOf } from "./answer.ts";
import type { OpenEvents } from "./drill-down.ts";
import { fieldName } from "./question.ts";

export type NumberTableProps = {
  readonly label: string;
  readonly answer: Answer;
  readonly splitBy: string | undefined;
  readonly onOpen: OpenEvents;
};

export function NumberTable({ label, answer, splitBy, onOpen }: NumberTableProps) {
  const { buckets, series, measures, kind } = answer;
  const formats = series.map((one) => formatOf(measures[one.measure] ?? { metric: "" }));
  const bounds = formatOf({ metric: measures[0]?.metric ?? "" });
  const head =
    kind === "time_series" ? "Time" : kind === "histogram" ? "Values" : fieldName(splitBy ?? "");
  return (
    <div className="chart-numbers" tabIndex={0} role="group" aria-label={`Numbers of ${label}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">{head}</th>
            {series.map((one, index) => (
              <th key={`${index} ${one.label}`} scope="col">
                {one.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {buckets.map((bucket, at) => (
            <tr key={at}>
              <th scope="row">
                {bucket.kind === "time" ? formatTime(bucket.startMs) : bucketName(bucket, bounds)}
              </th>
              {series.map((one, index) => {
                const value = one.values[at];
                const text = typeof value === "number" ? formats[index]?.(value) : undefined;
                return (
                  <td key={`${index} ${one.label}`}>
                    {text === undefined ? (
                      "–"
                    ) : (
                      <button
                        type="button"
                        title="Open the events"
                        onClick={() => onOpen({ bucket, series: one })}
                      >
                        {kind === "histogram" ? value : text}
                      </button>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
