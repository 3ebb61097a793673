// FlameGraph: the events of a session by time and depth on a canvas, coloured by self time, tokens
// or cost. A click chooses an event, a second one zooms in on it; keys move between relatives,
// Enter zooms in and Backspace out.

import { type KeyboardEvent, type MouseEvent, useMemo, useRef, useState } from "react";
import { formatCost, formatCount, formatDuration } from "../../design/format.ts";
import { runAct } from "../../design/run-act.ts";
import { Segments } from "../../design/tabs.tsx";
import { FlameCanvas } from "./flame-canvas.tsx";
import { colorSteps, type FlameColor, frameAt, layOutFlame, rowPx } from "./flame-layout.ts";
import { sessionRoute, type SetSearch } from "./route.tsx";
import { ancestorsOf, childrenOf, type SessionTree, type TreeNode } from "./session-tree.ts";
import type { TimeAxis } from "./time-axis.ts";
import "./flame-graph.css";

export type FlameGraphProps = {
  readonly tree: SessionTree;
  readonly axis: TimeAxis;
  readonly selected: number;
  readonly hits: ReadonlySet<string>;
  readonly onSelect: (at: number) => void;
  readonly setSearch: SetSearch;
};

const colors = [
  { value: "time", label: "Self time" },
  { value: "tokens", label: "Tokens" },
  { value: "cost", label: "Cost" },
];

const formats: Readonly<Record<FlameColor, (value: number) => string>> = {
  time: formatDuration,
  tokens: formatCount,
  cost: formatCost,
};

export function FlameGraph(props: FlameGraphProps) {
  const { tree, axis, selected, hits, onSelect, setSearch } = props;
  const { color = "time", zoom } = sessionRoute.useSearch();
  const root = (zoom === undefined ? 0 : tree.indexOf.get(zoom)) ?? 0;
  const layout = useMemo(() => layOutFlame(tree, root, axis.placeOf), [tree, root, axis]);
  const scroller = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLDivElement>(null);
  const [hover, setHover] = useState<number>();
  const zoomTo = (at: number): void =>
    setSearch({ zoom: at === 0 ? undefined : tree.nodes[at]?.event.id });
  const onKeyDown = useFlameKeys({ tree, root, selected, onSelect, zoomTo });
  const at = (event: MouseEvent): number | undefined => {
    const box = scroller.current?.getBoundingClientRect();
    if (!box || !scroller.current) return undefined;
    const y = event.clientY - box.top + scroller.current.scrollTop;
    return frameAt(layout, (event.clientX - box.left) / scroller.current.clientWidth, y);
  };
  const told = tree.nodes[hover ?? selected];
  return (
    <div className="flame-graph">
      <div className="flame-bar">
        <Segments
          label="Colour by"
          options={colors}
          value={color}
          onChange={(next) => setSearch({ color: next as FlameColor })}
        />
        <Legend element={legend} max={layout.max[color]} format={formats[color]} />
      </div>
      <Crumbs tree={tree} root={root} onZoom={zoomTo} />
      <div
        ref={scroller}
        className="flame-scroller"
        role="application"
        aria-roledescription="flame graph"
        aria-label="Flame graph: arrows move, Enter zooms in, Backspace zooms out"
        tabIndex={0}
        onKeyDown={onKeyDown}
        onMouseMove={(event) => setHover(at(event))}
        onMouseLeave={() => setHover(undefined)}
        onClick={(event) => {
          const clicked = at(event);
          if (clicked === undefined) return;
          if (clicked === selected) zoomTo(clicked);
          else onSelect(clicked);
        }}
      >
        <FlameCanvas
          {...{ tree, layout, color, selected, hits, scroller, legend }}
          heightPx={layout.rowCount * rowPx}
        />
      </div>
      <p className="flame-told numeric" role="status">
        {told ? (
          <>
            {told.event.type} <bdi>{told.event.name}</bdi> · {describe(told, tree)}
          </>
        ) : (
          ""
        )}
      </p>
    </div>
  );
}

function describe({ event }: TreeNode, { nodes }: SessionTree): string {
  const wholeMs = Math.max(1, (nodes[0]?.event.endMs ?? 0) - (nodes[0]?.event.startMs ?? 0));
  const share = Math.round(((event.endMs - event.startMs) / wholeMs) * 100);
  return [
    `${formatDuration(event.endMs - event.startMs)} (${Math.min(100, share)} %)`,
    ...(event.totalTokens > 0 ? [`${formatCount(event.totalTokens)} tokens`] : []),
    ...(event.cost === undefined ? [] : [formatCost(event.cost)]),
    ...(event.error === undefined ? [] : [`failed: ${event.error.slice(0, 80)}`]),
  ].join(" · ");
}

type LegendProps = {
  readonly element: React.RefObject<HTMLDivElement | null>;
  readonly max: number;
  readonly format: (value: number) => string;
};

/** The colours with what they mean; the canvas takes them from here. */
function Legend({ element, max, format }: LegendProps) {
  return (
    <div className="flame-legend numeric">
      <span>{format(0)}</span>
      <div ref={element} aria-hidden>
        {Array.from({ length: colorSteps }, (_, step) => (
          <span key={step} data-step={step} />
        ))}
        <span data-step="bad" hidden />
        <span data-step="focus" hidden />
      </div>
      <span>{format(max)}</span>
    </div>
  );
}

type CrumbsProps = {
  readonly tree: SessionTree;
  readonly root: number;
  readonly onZoom: (at: number) => void;
};

const crumbsShown = 6;

function Crumbs({ tree, root, onZoom }: CrumbsProps) {
  const path = [...ancestorsOf(tree, root), root];
  const shown = path.length > crumbsShown ? [0, ...path.slice(-crumbsShown + 1)] : path;
  return (
    <nav className="flame-crumbs" aria-label="Zoom">
      {shown.map((at) => (
        <button
          key={at}
          type="button"
          className="truncate"
          aria-current={at === root ? "true" : undefined}
          onClick={() => onZoom(at)}
        >
          {tree.nodes[at]?.event.name}
        </button>
      ))}
    </nav>
  );
}

type FlameKeys = {
  readonly tree: SessionTree;
  readonly root: number;
  readonly selected: number;
  readonly onSelect: (at: number) => void;
  readonly zoomTo: (at: number) => void;
};

function useFlameKeys({ tree, root, selected, onSelect, zoomTo }: FlameKeys) {
  const select = (at: number | undefined): void => {
    if (at !== undefined && at >= 0) onSelect(at);
  };
  const parent = tree.nodes[selected]?.parent ?? -1;
  const beside = (step: number): void => {
    if (parent < 0) return;
    const siblings = childrenOf(tree, parent);
    select(siblings[siblings.indexOf(selected) + step]);
  };
  const acts: Readonly<Record<string, () => void>> = {
    ArrowUp: () => select(parent),
    ArrowDown: () => select(childrenOf(tree, selected)[0]),
    ArrowLeft: () => beside(-1),
    ArrowRight: () => beside(1),
    Enter: () => zoomTo(selected),
    Backspace: () => zoomTo(Math.max(0, tree.nodes[root]?.parent ?? 0)),
    Escape: () => zoomTo(0),
    Home: () => select(root),
  };
  return (event: KeyboardEvent): void => runAct(event, acts);
}
