// Scalars: one large number for each measure.

import { type Answer, formatOf } from "./answer.ts";
import type { OpenEvents } from "./drill-down.ts";
import { measureName } from "./question.ts";

export type ScalarsProps = { readonly answer: Answer; readonly onOpen: OpenEvents };

export function Scalars({ answer, onOpen }: ScalarsProps) {
  return (
    <ul className="scalars">
      {answer.series.map((series, index) => {
        const measure = answer.measures[series.measure] ?? { metric: "" };
        const value = series.values[0];
        const isSplit = series.split !== undefined || series.isOther;
        return (
          <li key={`${index} ${series.label}`}>
            <button type="button" onClick={() => onOpen({ series })} title="Open the events">
              <b className="numeric">
                {typeof value === "number" ? formatOf(measure)(value) : "–"}
              </b>
              <span className="truncate">{isSplit ? series.label : measureName(measure)}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
