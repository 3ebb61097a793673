// BarList: a bar for each value of a split, the largest first; more measures stand as numbers
// beside it.

import type { CSSProperties } from "react";
import { type Answer, bucketName, formatOf } from "./answer.ts";
import type { OpenEvents } from "./drill-down.ts";

export type BarListProps = {
  readonly label: string;
  readonly answer: Answer;
  readonly onOpen: OpenEvents;
};

export function BarList({ label, answer, onOpen }: BarListProps) {
  const { buckets, series, measures } = answer;
  const [first] = series;
  const greatest = Math.max(...(first?.values ?? []).map((value) => Math.abs(value ?? 0)), 0);
  const formats = series.map((one) => formatOf(measures[one.measure] ?? { metric: "" }));
  return (
    <ul
      className="bar-list"
      aria-label={label}
      style={{ "--measures": series.length } as CSSProperties}
    >
      <li className="bar-list-head" aria-hidden>
        <span />
        {series.map((one) => (
          <span key={one.label} className="numeric" title={one.label}>
            {one.label}
          </span>
        ))}
      </li>
      {buckets.map((bucket, at) => {
        const value = first?.values[at] ?? null;
        const share = greatest === 0 ? 0 : Math.abs(value ?? 0) / greatest;
        const name = bucketName(bucket, String);
        return (
          <li key={`${at} ${name}`}>
            <button type="button" onClick={() => onOpen({ bucket })} title={`${name}: open events`}>
              <span className="bar-list-bar" style={{ width: `${share * 100}%` }} aria-hidden />
              <span className="truncate">{name}</span>
              {series.map((one, index) => {
                const number = one.values[at];
                return (
                  <span key={one.label} className="numeric" title={one.label}>
                    <span className="visually-hidden">{one.label} </span>
                    {typeof number === "number" ? formats[index]?.(number) : "–"}
                  </span>
                );
              })}
            </button>
          </li>
        );
      })}
    </ul>
  );
}
