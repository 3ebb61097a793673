// Options of uPlot: axes, series and the brush, in the colours that the tokens have now.

import UPlot from "uplot";
import type { ChartProps } from "./chart.tsx";
import { formatDuration } from "./format.ts";
import { formatTick } from "./histogram-scale.ts";
import {
  isolatedIndexes,
  lookOf,
  strokesOf,
  timeAxis,
  valueAxis,
  valueSteps,
} from "./plot-values.ts";

export type PlotProps = ChartProps & {
  readonly kind: "line" | "bar";
  readonly heightPx: number;
};

type PlotSetup = {
  readonly element: HTMLElement;
  /** Returns the newest properties; the callbacks of uPlot outlive a render. */
  readonly props: () => PlotProps;
  /** Called with the index under the pointer. */
  readonly onMove: (index: number | undefined) => void;
};

/** Width that a drag must have to be a brush and no click. */
const brushPxMin = 4;
/** Room beside the first and the last tick for half of a time or a date. */
const labelPx = 20;
const barShare = 0.82;
const barPxMax = 40;

function stepsOf(plot: UPlot, isDuration: boolean): number[] {
  return valueSteps(
    plot.data.slice(1).map((values) => [...values]),
    isDuration,
  );
}

export function createPlotOptions({ element, props, onMove }: PlotSetup): UPlot.Options {
  const { heightPx, onRange } = props();
  const style = getComputedStyle(element);
  const colorOf = colorReader(element);
  const font = `11px ${style.fontFamily}`;
  const axis = { font, stroke: colorOf("--text-faint"), ticks: { show: false } };
  return {
    width: element.clientWidth,
    height: heightPx,
    legend: { show: false },
    padding: [8, labelPx, 0, 0],
    cursor: {
      y: false,
      points: { show: props().kind === "line" },
      drag: {
        x: onRange !== undefined,
        y: false,
        setScale: false,
        dist: brushPxMin,
        // uPlot drops a click that moved by one pixel; `listen` tells a click from a brush.
        click: () => undefined,
      },
    },
    scales: {
      x: { range: () => timeAxis(props()) },
      y: { range: (_plot, min, max) => valueAxis(min, max) },
    },
    axes: [
      { ...axis, size: 26, grid: { show: false }, space: 70, values: formatTicks },
      {
        ...axis,
        size: 58,
        grid: { stroke: colorOf("--line"), width: 1 },
        incrs: (plot) => stepsOf(plot, props().format === formatDuration),
        values: (_plot, ticks) => ticks.map((tick) => props().format(tick)),
      },
    ],
    series: [{}, ...seriesOf(props(), colorOf)],
    hooks: {
      setCursor: [(plot) => onMove(plot.cursor.idx ?? undefined)],
      setSelect: [(plot) => select(plot, props())],
      ready: [(plot) => listen(plot, props)],
    },
  };
}

function seriesOf({ series, kind }: PlotProps, colorOf: (name: string) => string): UPlot.Series[] {
  const bars = UPlot.paths.bars?.({ size: [barShare, barPxMax], radius: 0.1 });
  const list = series.map(({ label, color }, index): UPlot.Series => {
    const look = lookOf(index);
    const name = color ?? look.color;
    const stroke = colorOf(name === "bad" ? "--bad" : `--series-${name}`);
    return kind === "line"
      ? {
          label,
          stroke,
          width: 1.75,
          dash: color === undefined ? strokesOf(look) : [],
          points: {
            show: false,
            size: 5,
            width: 0,
            fill: stroke,
            filter: (plot, at) => isolatedIndexes(plot.data[at] ?? []),
          },
        }
      : {
          label,
          stroke,
          fill:
            color === undefined ? barFill(stroke, strokesOf(look), colorOf("--surface")) : stroke,
          width: 0,
          points: { show: false },
          ...(bars && { paths: bars }),
        };
  });
  // The sum of all bars is drawn first, so that each smaller one stands before it.
  return kind === "bar" ? list.toReversed() : list;
}

/** Returns the colour of a bar, in stripes as long as the strokes of its mark in the legend. */
function barFill(color: string, strokes: readonly number[], gap: string): UPlot.Series.Fill {
  if (strokes.length === 0) return color;
  return ({ ctx }) => {
    const ratio = UPlot.pxRatio;
    const stripes = document.createElement("canvas");
    stripes.width = 1;
    stripes.height = strokes.reduce((sum, length) => sum + length, 0) * ratio;
    const brush = stripes.getContext("2d");
    if (!brush) return color;
    let top = 0;
    for (const [index, length] of strokes.entries()) {
      brush.fillStyle = index % 2 === 0 ? color : gap;
      brush.fillRect(0, top, 1, length * ratio);
      top += length * ratio;
    }
    return ctx.createPattern(stripes, "repeat") ?? color;
  };
}

/** Midnights carry the date, other ticks the time of day, once for each minute. */
function formatTicks(_plot: UPlot, ticks: number[]): string[] {
  const texts = ticks.map((seconds) => formatTick(seconds * 1_000));
  return texts.map((text, at) => (text === texts[at - 1] ? "" : text));
}

function select(plot: UPlot, { onRange }: PlotProps): void {
  const { left, width } = plot.select;
  if (width < brushPxMin || !onRange) return;
  const from = plot.posToVal(left, "x") * 1_000;
  const to = plot.posToVal(left + width, "x") * 1_000;
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  onRange({ from: Math.round(from), to: Math.round(to) });
}

function listen(plot: UPlot, props: () => PlotProps): void {
  let downPx = 0;
  plot.over.addEventListener("mousedown", (event) => {
    downPx = event.clientX;
  });
  plot.over.addEventListener("click", (event) => {
    if (Math.abs(event.clientX - downPx) >= brushPxMin) return;
    const { times, series, onPoint } = props();
    const timeMs = times[plot.cursor.idx ?? -1];
    const at = series[nearestSeries(plot, props().kind)];
    if (timeMs !== undefined && at) onPoint?.(timeMs, at.label);
  });
}

/**
 * Returns the position of the series under the pointer: the bar that holds it, or the closest line.
 */
function nearestSeries(plot: UPlot, kind: "line" | "bar"): number {
  const { idx, top = 0 } = plot.cursor;
  const drawn = plot.data.slice(1).map((values) => values[idx ?? -1] ?? null);
  if (kind === "bar") {
    const value = plot.posToVal(top, "y");
    // Drawn the tallest first, the other way round than the series stand.
    const sums = drawn.toReversed();
    const holding = sums.findIndex((sum) => sum !== null && sum >= value);
    return holding < 0 ? sums.indexOf(drawn[0] ?? null) : holding;
  }
  const distances = drawn.map((value) =>
    value === null ? Infinity : Math.abs(plot.valToPos(value, "y") - top),
  );
  return distances.indexOf(Math.min(...distances));
}

/** Reads what colours tokens have here and now: a canvas knows no variables. */
function colorReader(element: HTMLElement): (name: string) => string {
  const probe = document.createElement("span");
  // A transition would answer with the colour before.
  probe.style.transition = "none";
  element.append(probe);
  const read = (name: string): string => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  queueMicrotask(() => probe.remove());
  return read;
}
