// TraceTree: the events of a session as a tree with a waterfall. Its rows are virtual; keys move as
// in any tree: up and down, left to fold or to the parent, right to unfold or to the first child.

import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useCallback, useEffect, useId, useMemo, useRef } from "react";
import { formatDuration } from "../../design/format.ts";
import { revealRow } from "../../design/reveal-row.ts";
import "../../design/rows.css";
import { runAct } from "../../design/run-act.ts";
import { useCommands } from "../../shell/commands.ts";
import { type SessionTree, type TreeNode, visibleNodes } from "./session-tree.ts";
import type { TimeAxis, TimeGap } from "./time-axis.ts";
import { TraceRow } from "./trace-row.tsx";
import "./trace-tree.css";

export type TraceTreeProps = {
  readonly tree: SessionTree;
  readonly axis: TimeAxis;
  /** Position of the chosen node. */
  readonly selected: number;
  readonly onSelect: (at: number) => void;
  readonly folded: ReadonlySet<string>;
  readonly onFold: (folded: ReadonlySet<string>) => void;
  readonly hits: ReadonlySet<string>;
};

const rowHeightPx = 30;
const pageRows = 20;

export function TraceTree(props: TraceTreeProps) {
  const { tree, axis, selected, onSelect, folded, onFold, hits } = props;
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const visible = useMemo(() => visibleNodes(tree, folded), [tree, folded]);
  const virtual = useVirtualizer({
    count: visible.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeightPx,
    overscan: 12,
  });
  const levels = useMemo(
    () => tree.nodes.reduce((most, { depth }) => Math.max(most, depth), 0),
    [tree],
  );
  const place = useMemo(() => placeIn(visible, selected), [visible, selected]);
  useEffect(() => {
    revealRow(scroller.current, place, rowHeightPx);
    // Only a new choice moves the view; the place also changes as events come in above it.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [selected]);
  useEffect(() => {
    // The keys of the tree work at once, unless something else has the focus.
    if (document.activeElement === document.body) scroller.current?.focus({ preventScroll: true });
  }, []);
  const toggle = useCallback(
    (at: number) => {
      const next = new Set(folded);
      const eventId = tree.nodes[at]?.event.id ?? "";
      if (!next.delete(eventId)) next.add(eventId);
      onFold(next);
    },
    [tree, folded, onFold],
  );
  const onKeyDown = useTreeKeys({ ...props, visible, place, toggle });
  const shown = virtual.getVirtualItems();
  const isActiveShown = shown.some(({ index }) => index === place);
  return (
    <div
      ref={scroller}
      className="rows"
      role="tree"
      aria-label="Events"
      tabIndex={0}
      aria-activedescendant={isActiveShown ? `${id}-${selected}` : undefined}
      onKeyDown={onKeyDown}
    >
      <TreeHead axis={axis} />
      <div className="rows-body" role="none" style={{ height: virtual.getTotalSize() }}>
        {shown.map(({ index, start }) => {
          const at = visible[index] ?? 0;
          const node = tree.nodes[at] as TreeNode;
          return (
            <TraceRow
              key={node.event.id}
              id={`${id}-${at}`}
              at={at}
              node={node}
              axis={axis}
              levels={levels}
              topPx={start}
              isSelected={at === selected}
              isFolded={folded.has(node.event.id)}
              isHit={hits.has(node.event.id)}
              onSelect={onSelect}
              onToggle={toggle}
            />
          );
        })}
      </div>
    </div>
  );
}

/** Whether there is room for the length of a gap between the ends of the axis. */
function isWithin({ from, to }: TimeGap): boolean {
  return from > 0 && to < 1 - 1e-9;
}

function wordsOf({ durationMs }: TimeGap): string {
  return `Nothing ran for ${formatDuration(durationMs)}; shown shortened`;
}

function TreeHead({ axis }: { readonly axis: TimeAxis }) {
  const last = axis.gaps.at(-1);
  return (
    <div className="rows-head trace-head" aria-hidden>
      <span className="trace-step">Step</span>
      <span className="trace-number" data-column="tokens">
        Tokens
      </span>
      <span className="trace-number" data-column="cost">
        Cost
      </span>
      <span className="trace-number" data-column="duration">
        Duration
      </span>
      <span className="trace-time numeric">
        <span>0</span>
        {axis.gaps.filter(isWithin).map((gap) => (
          <span
            key={gap.from}
            className="trace-gap-label"
            style={{ left: `${((gap.from + gap.to) / 2) * 100}%` }}
            title={wordsOf(gap)}
          >
            ⋯ {formatDuration(gap.durationMs)}
          </span>
        ))}
        <span title={last && !isWithin(last) ? wordsOf(last) : undefined}>
          {formatDuration(axis.endMs - axis.startMs)}
        </span>
      </span>
    </div>
  );
}

/** Returns the place of a node among the visible ones, else that of the nearest one above it. */
function placeIn(visible: readonly number[], at: number): number {
  let [low, high] = [0, visible.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((visible[middle] ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

type TreeKeys = TraceTreeProps & {
  readonly visible: readonly number[];
  readonly place: number;
  readonly toggle: (at: number) => void;
};

function useTreeKeys({ tree, visible, place, selected, onSelect, folded, toggle }: TreeKeys) {
  const move = (to: number): void => {
    onSelect(visible[Math.max(0, Math.min(visible.length - 1, to))] ?? 0);
  };
  const node = tree.nodes[selected];
  const isBranch = node !== undefined && node.childCount > 0;
  const isFolded = node !== undefined && folded.has(node.event.id);
  const acts: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(place + 1),
    ArrowUp: () => move(place - 1),
    PageDown: () => move(place + pageRows),
    PageUp: () => move(place - pageRows),
    Home: () => move(0),
    End: () => move(visible.length - 1),
    ArrowRight: () => (isBranch && isFolded ? toggle(selected) : isBranch && move(place + 1)),
    ArrowLeft: () => {
      if (isBranch && !isFolded) toggle(selected);
      else if (node && node.parent >= 0) onSelect(node.parent);
    },
    Enter: () => isBranch && toggle(selected),
  };
  const group = "Events";
  useCommands([
    { id: "session.next", title: "Next event", group, keys: "j", run: () => move(place + 1) },
    { id: "session.back", title: "Previous event", group, keys: "k", run: () => move(place - 1) },
  ]);
  return (event: KeyboardEvent): void => runAct(event, acts);
}
