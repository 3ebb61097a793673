// uPlot for the charts: colours from the tokens, a brush along the time, a tooltip at the pointer,
// and arrow keys that move along the points and from series to series.

import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import UPlot from "uplot";
import { useIsDark } from "../shell/theme.ts";
import { markOf } from "./chart-legend.tsx";
import "./chart-tip.css";
import { formatTime } from "./format.ts";
import "./plot.css";
import { createPlotOptions, type PlotProps } from "./plot-options.ts";
import { stacked } from "./plot-values.ts";
import { pointAfterKey } from "./point-keys.ts";

export function Plot(props: PlotProps) {
  const { label, times, series, format, kind, heightPx, onRange, onPoint } = props;
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const newest = useRef(props);
  const [at, setAt] = useState<number>();
  const [picked, setPicked] = useState<number>();
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
  }, [shape, kind, isDark, heightPx]);
  useEffect(() => {
    plot.current?.setData(toData(newest.current));
  }, [times, series]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const { key, shiftKey } = event;
    const timeMs = times[at ?? -1];
    const next = pointAfterKey(key, at, times.length);
    if (key === "Enter") {
      const range = at === undefined ? undefined : bucketAt(times, at);
      if (onPoint && !shiftKey && timeMs !== undefined) {
        onPoint(timeMs, series[picked ?? -1]?.label);
      } else if (onRange && range) onRange(range);
      else return;
    } else if (next !== undefined) {
      const left = plot.current?.valToPos((times[next] ?? 0) / 1_000, "x") ?? 0;
      plot.current?.setCursor({ left, top: heightPx / 2 });
      setAt(next);
    } else if (seriesSteps[key] !== undefined && onPoint && series.length > 1) {
      const beside = (picked ?? -1) + seriesSteps[key];
      setPicked(Math.max(0, Math.min(series.length - 1, beside)));
    } else return;
    event.preventDefault();
  };
  const timeMs = at === undefined ? undefined : times[at];
  return (
    <div className="plot">
      <div
        ref={host}
        className="plot-canvas"
        data-opens={onPoint !== undefined}
        tabIndex={0}
        role="img"
        aria-label={`${label}. ${keysOf(props)}`}
        onKeyDown={onKeyDown}
      />
      {at === undefined || timeMs === undefined ? null : (
        <div
          className="chart-tip plot-tooltip"
          role="status"
          data-side={at > times.length / 2 ? "left" : "right"}
        >
          <p>{formatTime(timeMs)}</p>
          {series.map((one, index) => {
            const { label: name, values } = one;
            const value = values[at];
            return (
              <p key={name} {...markOf(one, index)} data-picked={index === picked}>
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

const seriesSteps: Readonly<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1 };

/** Returns what the keys do, for the name of the chart. */
function keysOf({ series, onPoint, onRange }: PlotProps): string {
  const acts = [
    "Arrow keys read its points",
    ...(onPoint && series.length > 1 ? ["up and down pick a series"] : []),
    ...(onPoint ? ["Enter opens the events"] : []),
    ...(onRange ? [`${onPoint ? "Shift with " : ""}Enter zooms in`] : []),
  ];
  return `${acts.join(", ")}.`;
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
