// ChartLegend: the names of a chart's series and, where its place holds fewer, how many it leaves
// out.

import { type CSSProperties, type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { lookOf, strokesOf } from "./plot-values.ts";

type ChartLegendProps = {
  readonly series: readonly { readonly label: string; readonly color?: number | "bad" }[];
  /** Stands at its end. */
  readonly children?: ReactNode;
};

export function ChartLegend({ series, children }: ChartLegendProps) {
  const element = useRef<HTMLDivElement>(null);
  const [hidden, setHidden] = useState(0);
  const names = series.map(({ label }) => label);
  const shape = names.join("\n");
  useLayoutEffect(() => {
    const legend = element.current;
    if (!legend) return undefined;
    const observer = new ResizeObserver(() => setHidden(countHidden(legend)));
    observer.observe(legend);
    return () => observer.disconnect();
  }, [shape]);
  return (
    <div ref={element} className="chart-legend" data-more={hidden > 0}>
      {series.map((one, index) => (
        <span key={one.label} {...markOf(one, index)}>
          <span className="truncate" title={one.label}>
            {one.label}
          </span>
        </span>
      ))}
      {hidden === 0 ? null : (
        <span className="chart-legend-more" title={names.slice(-hidden).join(", ")}>
          +{hidden} more
        </span>
      )}
      {children}
    </div>
  );
}

/** Returns the attributes of a name whose mark is drawn as its series is. */
export function markOf({ color }: { readonly color?: number | "bad" }, index: number) {
  if (color !== undefined) return { "data-color": color };
  const look = lookOf(index);
  const strokes = strokesOf(look);
  const style = { "--strokes": toGradient(strokes) } as CSSProperties;
  return { "data-color": look.color, ...(strokes.length > 0 && { "data-dashed": true, style }) };
}

/** Returns the stops of a gradient that draws strokes and gaps of these lengths in turn. */
function toGradient(strokes: readonly number[]): string {
  let from = 0;
  const stops = strokes.map((length, index) => {
    const start = from;
    from += length;
    return `${index % 2 === 0 ? "var(--mark)" : "transparent"} ${start}px ${from}px`;
  });
  return stops.join(", ");
}

/** Returns how many names are below the edge of the legend, by a pixel or more. */
function countHidden(legend: HTMLElement): number {
  const { bottom } = legend.getBoundingClientRect();
  const names = [...legend.querySelectorAll("[data-color]")];
  return names.filter((name) => name.getBoundingClientRect().bottom >= bottom + 1).length;
}
