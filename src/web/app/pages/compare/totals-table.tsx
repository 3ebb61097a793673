// TotalsTable: the totals of two things of one kind, and how the second differs from the first.

import type { ReactNode } from "react";
import { Difference } from "./difference.tsx";
import "./compare.css";

export type Measure<T> = {
  readonly label: string;
  readonly of: (side: T) => number | undefined;
  readonly format: (value: number) => string;
};

export type Side<T> = {
  readonly name: ReactNode;
  /** Undefined while it is read. */
  readonly value: T | undefined;
};

export type TotalsTableProps<T> = {
  /** The kind of the two, as the header of their names. */
  readonly kind: string;
  readonly first: Side<T>;
  readonly second: Side<T>;
  /** Header of the differences, such as `B − A`. */
  readonly difference: string;
  readonly measures: readonly Measure<T>[];
};

export function TotalsTable<T>(props: TotalsTableProps<T>) {
  const { kind, first, second, difference, measures } = props;
  const read = ({ of }: Measure<T>, { value }: Side<T>) =>
    value === undefined ? undefined : of(value);
  return (
    <table className="compare-totals numeric">
      <thead>
        <tr>
          <th scope="col">{kind}</th>
          {measures.map(({ label }) => (
            <th key={label} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {[first, second].map((side, index) => (
          <tr key={index}>
            <th scope="row">{side.name}</th>
            {measures.map((measure) => {
              const total = read(measure, side);
              return (
                <td key={measure.label}>{total === undefined ? "–" : measure.format(total)}</td>
              );
            })}
          </tr>
        ))}
        <tr>
          <th scope="row">{difference}</th>
          {measures.map((measure) => (
            <td key={measure.label}>
              <Difference
                a={read(measure, first)}
                b={read(measure, second)}
                format={measure.format}
              />
            </td>
          ))}
        </tr>
      </tbody>
    </table>
  );
}
