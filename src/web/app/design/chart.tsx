// TimeSeriesChart and HistogramChart: lines or bars over time with a legend, a tooltip, and a brush
// that picks a range. The same numbers stand in a table for those who do not see the picture. uPlot
// draws, and loads when the first chart is on the screen.

import { ChartNoAxesColumn, Table2 } from "lucide-react";
import { lazy, type ReactNode, Suspense, useId, useState } from "react";
import { IconButton } from "./button.tsx";
import { ChartLegend } from "./chart-legend.tsx";
import { formatTime } from "./format.ts";
import "./chart.css";

export type ChartSeries = {
  readonly label: string;
  /** One value a time; null where there is none. */
  readonly values: readonly (number | null)[];
  /** Position among the series colours, or the colour of errors. */
  readonly color?: 1 | 2 | 3 | 4 | 5 | 6 | "bad";
};

export type ChartProps = {
  /** Read out as the name of the chart. */
  readonly label: string;
  /** Starts of the buckets, Unix milliseconds, ascending. */
  readonly times: readonly number[];
  /** Unit of the buckets, such as `hour`. */
  readonly unit?: string | undefined;
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
  readonly heightPx?: number;
  /** Called with the range that was brushed, Unix milliseconds. */
  readonly onRange?: (range: { readonly from: number; readonly to: number }) => void;
  /** Called for a click or Enter at a point; by keys without a series unless one was picked. */
  readonly onPoint?: (timeMs: number, seriesLabel: string | undefined) => void;
  /** Leaves out the switch to the table, where the page has its own. */
  readonly hasOwnNumbers?: boolean;
};

const Plot = lazy(async () => ({ default: (await import("./plot.tsx")).Plot }));

export function TimeSeriesChart(props: ChartProps) {
  return <Chart {...props} kind="line" />;
}

/** Bars; several series are stacked in their order. */
export function HistogramChart(props: ChartProps) {
  return <Chart {...props} kind="bar" />;
}

function Chart(props: ChartProps & { readonly kind: "line" | "bar" }) {
  const { label, times, series, format, heightPx = 220 } = props;
  const { hasOwnNumbers = false } = props;
  const [isTable, setTable] = useState(false);
  const id = useId();
  return (
    <figure className="chart" data-kind={props.kind} aria-labelledby={id}>
      <figcaption id={id} className="visually-hidden">
        {label}
      </figcaption>
      <ChartLegend series={series}>
        {hasOwnNumbers ? null : (
          <IconButton
            size="small"
            label={isTable ? "Show the chart" : "Show the numbers"}
            icon={isTable ? <ChartNoAxesColumn /> : <Table2 />}
            onClick={() => setTable(!isTable)}
          />
        )}
      </ChartLegend>
      {isTable ? (
        <NumbersTable label={label} times={times} series={series} format={format} />
      ) : (
        <div className="chart-plot" style={{ height: heightPx }}>
          <Suspense fallback={null}>
            <Plot {...props} heightPx={heightPx} />
          </Suspense>
        </div>
      )}
    </figure>
  );
}

type NumbersTableProps = Pick<ChartProps, "label" | "times" | "series" | "format">;

function NumbersTable({ label, times, series, format }: NumbersTableProps): ReactNode {
  return (
    <div className="chart-numbers" tabIndex={0} role="group" aria-label={`Numbers of ${label}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map((one) => (
              <th key={one.label} scope="col">
                {one.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((timeMs, index) => (
            <tr key={timeMs}>
              <th scope="row">{formatTime(timeMs)}</th>
              {series.map(({ label: name, values }) => {
                const value = values[index];
                return <td key={name}>{typeof value === "number" ? format(value) : "–"}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
