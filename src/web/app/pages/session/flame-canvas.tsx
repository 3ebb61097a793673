// FlameCanvas: the canvas of the flame graph, as large as the window that is seen of it; it draws
// again when that, the theme or the choice changes.

import { type RefObject, useEffect, useRef, useState } from "react";
import { drawFlame, type FlameColors } from "./flame-draw.ts";
import { colorSteps, type FlameColor, type FlameLayout, rowPx } from "./flame-layout.ts";
import type { SessionTree } from "./session-tree.ts";

export type FlameCanvasProps = {
  readonly tree: SessionTree;
  readonly layout: FlameLayout;
  readonly color: FlameColor;
  readonly selected: number;
  readonly hits: ReadonlySet<string>;
  readonly heightPx: number;
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly legend: RefObject<HTMLDivElement | null>;
};

export function FlameCanvas(props: FlameCanvasProps) {
  const { tree, layout, color, selected, hits, heightPx, scroller, legend } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(scroller);
  const themeChanges = useThemeChanges();
  useEffect(() => {
    const element = scroller.current;
    const frame = layout.frames.find(({ at }) => at === selected);
    if (!element || !frame) return;
    const top = frame.row * rowPx;
    const isAbove = top < element.scrollTop;
    if (isAbove || top + rowPx > element.scrollTop + element.clientHeight) {
      element.scrollTop = isAbove ? top : top + rowPx - element.clientHeight;
    }
  }, [selected, layout, scroller]);
  useEffect(() => {
    const element = scroller.current;
    const context = canvas.current?.getContext("2d");
    if (!element || !canvas.current || !context || !legend.current) return undefined;
    const colors = readColors(legend.current);
    const ratio = globalThis.devicePixelRatio;
    canvas.current.width = Math.round(size.widthPx * ratio);
    canvas.current.height = Math.round(size.heightPx * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const draw = (): void =>
      drawFlame({
        context,
        tree,
        layout,
        color,
        colors,
        selected,
        hits,
        ...size,
        scrollTop: element.scrollTop,
      });
    draw();
    element.addEventListener("scroll", draw, { passive: true });
    return () => element.removeEventListener("scroll", draw);
  }, [tree, layout, color, selected, hits, size, themeChanges, scroller, legend]);
  return (
    <div className="flame-height" style={{ height: Math.max(heightPx, size.heightPx) }}>
      <canvas ref={canvas} style={{ width: size.widthPx, height: size.heightPx }} />
    </div>
  );
}

/** Reads the colours from the legend, so that both are the same in every theme. */
function readColors(legend: HTMLElement): FlameColors {
  const styleOf = (step: number | string) =>
    getComputedStyle(legend.querySelector(`[data-step="${step}"]`) ?? legend);
  const steps = Array.from({ length: colorSteps }, (_, step) => {
    const { backgroundColor: ground, color: text } = styleOf(step);
    return { ground, text };
  });
  const { fontFamily } = getComputedStyle(legend);
  return {
    steps,
    bad: styleOf("bad").backgroundColor,
    focus: styleOf("focus").backgroundColor,
    font: `12px ${fontFamily}`,
  };
}

function useSize(scroller: RefObject<HTMLDivElement | null>) {
  const [size, setSize] = useState({ widthPx: 0, heightPx: 0 });
  useEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() =>
      setSize({ widthPx: element.clientWidth, heightPx: element.clientHeight }),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroller]);
  return size;
}

/** Counts the changes of the theme, by the app's own switch or by the system's. */
function useThemeChanges(): number {
  const [changes, setChanges] = useState(0);
  useEffect(() => {
    const change = (): void => setChanges((count) => count + 1);
    const observer = new MutationObserver(change);
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const query = globalThis.matchMedia("(prefers-color-scheme: dark)");
    query.addEventListener("change", change);
    return () => {
      observer.disconnect();
      query.removeEventListener("change", change);
    };
  }, []);
  return changes;
}
