// uPlot for the charts: colours from the tokens, a brush along the time, a tooltip at the pointer,
// and arrow keys that move along the points.

import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import UPlot from "uplot";
import { useIsDark } from "../shell/theme.ts";
import type { ChartProps } from "./chart.tsx";
import { formatTime } from "./format.ts";
import "./plot.css";
import { createPlotOptions, stacked } from "./plot-options.ts";

export type PlotProps = ChartProps & {
  readonly kind: "line" | "bar";
  readonly heightPx: number;
};

export function Plot(props: PlotProps) {
  const { label, times, series, format, kind, heightPx, isCompact, onRange } = props;
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const newest = useRef(props);
  const [at, setAt] = useState<number>();
  const isDark = useIsDark();
  // A chart of other series is another chart; other numbers of the same series are only drawn anew.
  const shape = series.map((one) => `${one.label} ${one.color ?? ""}`).join("\n");
  useEffect(() => {
    newest.current = props;
  });
  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const options = createPlotOptions({
      element,
      props: () => newest.current,
      onMove: setAt,
    });
    const created = new UPlot(options, toData(newest.current), element);
    plot.current = created;
    const observer = new ResizeObserver(() =>
      created.setSize({ width: element.clientWidth, height: heightPx }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      created.destroy();
      plot.current = undefined;
    };
  }, [shape, kind, isDark, heightPx, isCompact]);
  useEffect(() => {
    plot.current?.setData(toData(newest.current));
  }, [times, series]);
  const move = (event: KeyboardEvent): void => {
    const range = at === undefined ? undefined : bucketAt(times, at);
    if (event.key === "Enter" && range && props.onRange) {
      event.preventDefault();
      props.onRange(range);
      return;
    }
    const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };
    const step = steps[event.key];
    if (step === undefined || times.length === 0) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(times.length - 1, (at ?? -1) + step));
    const left = plot.current?.valToPos((times[next] ?? 0) / 1_000, "x") ?? 0;
    plot.current?.setCursor({ left, top: heightPx / 2 });
    setAt(next);
  };
  const timeMs = at === undefined ? undefined : times[at];
  return (
    <div className="plot">
      <div
        ref={host}
        className="plot-canvas"
        tabIndex={0}
        role="img"
        aria-label={`${label}. Arrow keys read its points${onRange ? ", Enter zooms in" : ""}.`}
        onKeyDown={move}
      />
      {at === undefined || timeMs === undefined ? null : (
        <div
          className="plot-tooltip"
          role="status"
          data-side={at > times.length / 2 ? "left" : "right"}
        >
          <p>{formatTime(timeMs)}</p>
          {series.map(({ label: name, values, color }, index) => {
            const value = values[at];
            return (
              <p key={name} data-color={color ?? (index % 6) + 1}>
                <span>{name}</span>
                <b>{typeof value === "number" ? format(value) : "–"}</b>
              </p>
            );
          })}
        </div>
      )}
    </div>
  );
}

/** Returns the range of a bucket: up to the start of the next one. */
function bucketAt(times: readonly number[], index: number) {
  const from = times[index];
  const widthMs = (times[1] ?? 0) - (times[0] ?? 0);
  return from === undefined || widthMs <= 0 ? undefined : { from, to: from + widthMs - 1 };
}

function toData({ times, series, kind }: PlotProps): UPlot.AlignedData {
  const values = series.map((one) => [...one.values]);
  return [
    times.map((ms) => ms / 1_000),
    ...(kind === "bar" ? stacked(values).toReversed() : values),
  ];
}
