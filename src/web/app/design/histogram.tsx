// Histogram: a low strip of stacked bars over time above a list, with a brush that picks a range.
// Plain SVG, so that a page with a list loads no library of charts.

import { type KeyboardEvent, type PointerEvent, useId, useState } from "react";
import "./chart-tip.css";
import { formatTime } from "./format.ts";
import { type Bucket, formatTick, stackHeights, tickTimes, toBuckets } from "./histogram-scale.ts";
import { pointAfterKey } from "./point-keys.ts";
import type { TimeRange } from "./time-range.ts";
import "./histogram.css";

export type HistogramSeries = {
  readonly label: string;
  /** One value a time. */
  readonly values: readonly number[];
  readonly color: 1 | "bad";
};

export type HistogramProps = {
  /** Read out as the name of the picture. */
  readonly label: string;
  /** Starts of the buckets, Unix milliseconds, ascending. */
  readonly times: readonly number[];
  /** Unit of the buckets, such as `hour`. */
  readonly unit?: string | undefined;
  /** Stacked in their order. */
  readonly series: readonly HistogramSeries[];
  readonly format: (value: number) => string;
  /** Called with the range that was brushed, or with that of a bucket. */
  readonly onRange: (range: TimeRange) => void;
};

/** Movement below which a press is a click, in pixels: hands tremble. */
const clickPx = 5;
const barShare = 0.82;
const headroom = 1.06;
/** Height of the bars in pixels, as histogram.css lays them out. */
const canvasPx = 57;

export function Histogram(props: HistogramProps) {
  const { label, times, unit, series, format } = props;
  const [at, setAt] = useState<number>();
  const buckets = toBuckets(times, unit);
  const id = useId();
  const bucket = at === undefined ? undefined : buckets[at];
  const totals = series.map(({ label: name, values }) => {
    const sum = values.reduce((total, value) => total + value, 0);
    return `${name}: ${format(sum)}`;
  });
  return (
    <figure className="histogram" aria-labelledby={id}>
      <figcaption id={id} className="visually-hidden">
        {label}
      </figcaption>
      <Canvas {...props} buckets={buckets} at={at} onAt={setAt} />
      <div className="histogram-ticks" aria-hidden>
        {tickTimes(buckets).map(({ timeMs, share }) => (
          <span key={timeMs} data-end={share > 0.9} style={{ left: `${share * 100}%` }}>
            {formatTick(timeMs)}
          </span>
        ))}
      </div>
      {at === undefined || !bucket ? null : (
        <div
          className="chart-tip histogram-tip"
          role="status"
          data-side={bucket.left > 0.5 ? "left" : "right"}
        >
          <p>{formatTime(bucket.from)}</p>
          {series.map(({ label: name, values, color }) => (
            <p key={name} data-color={color}>
              <span>{name}</span>
              <b>{format(values[at] ?? 0)}</b>
            </p>
          ))}
        </div>
      )}
      <p className="visually-hidden">{totals.join(", ")}</p>
    </figure>
  );
}

type CanvasProps = HistogramProps & {
  readonly buckets: readonly Bucket[];
  readonly at: number | undefined;
  readonly onAt: (at: number | undefined) => void;
};

/** The bars, and what pointers and keys do on them. */
function Canvas({ label, buckets, series, at, onAt, onRange }: CanvasProps) {
  const brush = useBrush(buckets, onAt, onRange);
  const zoomTo = (index: number | undefined): void => {
    const bucket = buckets[index ?? -1];
    if (bucket) onRange({ from: bucket.from, to: bucket.to });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = pointAfterKey(event.key, at, buckets.length);
    if (next !== undefined) onAt(next);
    else if (event.key === "Enter" && at !== undefined) zoomTo(at);
    else return;
    event.preventDefault();
  };
  const bucket = buckets[at ?? -1];
  return (
    <div
      className="histogram-canvas"
      tabIndex={0}
      role="img"
      aria-label={`${label}. Arrow keys read its bars, Enter zooms in.`}
      onKeyDown={onKeyDown}
      onBlur={() => onAt(undefined)}
      {...brush.handlers}
    >
      {bucket ? <span className="histogram-at" style={percent(bucket.left, bucket.width)} /> : null}
      {brush.taken ? (
        <span className="histogram-brush" style={percent(brush.taken[0], brush.taken[1])} />
      ) : null}
      <Bars buckets={buckets} series={series} />
    </div>
  );
}

function percent(left: number, width: number) {
  return { left: `${left * 100}%`, width: `${width * 100}%` };
}

function Bars({ buckets, series }: Pick<CanvasProps, "buckets" | "series">) {
  const sums = buckets.map((_, index) =>
    series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
  );
  const max = Math.max(...sums, 0) * headroom || 1;
  return (
    <svg viewBox={`0 0 1000 ${canvasPx}`} preserveAspectRatio="none" aria-hidden>
      {buckets.map(({ from, left, width }, index) => {
        const counts = series.map(({ values }) => values[index] ?? 0);
        const heights = stackHeights(counts, { max, heightPx: canvasPx });
        let top = canvasPx;
        return series.map(({ label, color }, at) => {
          const height = heights[at] ?? 0;
          top -= height;
          return height === 0 ? null : (
            <rect
              key={`${label} ${from}`}
              data-color={color}
              x={(left + (width * (1 - barShare)) / 2) * 1_000}
              width={width * barShare * 1_000}
              y={top}
              height={height}
            />
          );
        });
      })}
    </svg>
  );
}

type Press = { readonly startPx: number; readonly nowPx: number; readonly widthPx: number };

/** Tells clicks from brushes, with mouse, pen or finger. */
function useBrush(
  buckets: readonly Bucket[],
  onAt: (at: number | undefined) => void,
  onRange: (range: TimeRange) => void,
) {
  const [press, setPress] = useState<Press>();
  const placeOf = ({ currentTarget, clientX }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return { px: Math.max(0, Math.min(width, clientX - left)), widthPx: width };
  };
  const isBrush = press !== undefined && Math.abs(press.nowPx - press.startPx) >= clickPx;
  const taken = isBrush ? sharesOf(press) : undefined;
  const indexAt = (share: number): number | undefined => {
    const index = buckets.findLastIndex(({ left }) => left <= share);
    return index < 0 ? undefined : index;
  };
  const handlers = {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      const { px, widthPx } = placeOf(event);
      setPress({ startPx: px, nowPx: px, widthPx });
    },
    onPointerMove: (event: PointerEvent) => {
      const { px, widthPx } = placeOf(event);
      onAt(indexAt(px / widthPx));
      if (press) setPress({ ...press, nowPx: px, widthPx });
    },
    onPointerUp: (event: PointerEvent) => {
      if (!press) return;
      setPress(undefined);
      const { px, widthPx } = placeOf(event);
      const end = { ...press, nowPx: px, widthPx };
      const bucket = buckets[indexAt(press.startPx / widthPx) ?? -1];
      if (Math.abs(px - press.startPx) >= clickPx) {
        const [left, width] = sharesOf(end);
        onRange({ from: timeAt(buckets, left), to: timeAt(buckets, left + width) });
      } else if (bucket) onRange({ from: bucket.from, to: bucket.to });
    },
    onPointerCancel: () => setPress(undefined),
    onPointerLeave: () => onAt(undefined),
  };
  return { taken, handlers };
}

/** Returns where a brush begins and how wide it is, as shares of the width. */
function sharesOf({ startPx, nowPx, widthPx }: Press): readonly [number, number] {
  return [Math.min(startPx, nowPx) / widthPx, Math.abs(nowPx - startPx) / widthPx];
}

function timeAt(buckets: readonly Bucket[], share: number): number {
  const [first, last] = [buckets[0], buckets.at(-1)];
  if (!first || !last) return 0;
  return Math.round(first.from + share * (last.to + 1 - first.from));
}
