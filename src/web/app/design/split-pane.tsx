// SplitPane: two panes beside one another with an edge to move; one above the other in narrow
// windows. This browser keeps where the edge stands.

import { type CSSProperties, type KeyboardEvent, type PointerEvent } from "react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import "./split-pane.css";

export type SplitPaneProps = {
  /** Key under which this browser keeps the edge. */
  readonly storageKey: string;
  /** Share of the first pane at first, 0 to 1. */
  readonly initial?: number;
  /** Read out as the name of the edge. */
  readonly label: string;
  /** Whether the second pane has most of the height where the panes stand above one another. */
  readonly hasLargeSecond?: boolean;
  readonly first: ReactNode;
  readonly second: ReactNode;
};

const [shareMin, shareMax] = [0.15, 0.85];
const step = 0.02;

export function SplitPane(props: SplitPaneProps) {
  const { storageKey, initial = 0.5, label, hasLargeSecond = false, first, second } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [share, setShare] = useState(() => readShare(storageKey) ?? initial);
  const set = (next: number): void => {
    const bounded = Math.min(shareMax, Math.max(shareMin, next));
    setShare(bounded);
    localStorage.setItem(`waggle.split.${storageKey}`, String(bounded));
  };
  useEffect(() => {
    // The row that was chosen stays in view as its pane becomes lower.
    const chosen = frame.current?.firstElementChild?.querySelector('[aria-selected="true"]');
    if (hasLargeSecond) chosen?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [hasLargeSecond]);
  const onPointerMove = (event: PointerEvent): void => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const box = frame.current?.getBoundingClientRect();
    if (box) set((event.clientX - box.left) / box.width);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const moves: Readonly<Record<string, number>> = { ArrowLeft: -step, ArrowRight: step };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    set(share + move);
  };
  return (
    <div ref={frame} className="split-pane" data-large-second={hasLargeSecond}>
      <div style={{ "--share": `${share * 100}%` } as CSSProperties}>{first}</div>
      <div
        className="split-pane-edge"
        role="separator"
        aria-orientation="vertical"
        aria-label={label}
        aria-valuenow={Math.round(share * 100)}
        aria-valuemin={shareMin * 100}
        aria-valuemax={shareMax * 100}
        tabIndex={0}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={onPointerMove}
        onDoubleClick={() => set(initial)}
        onKeyDown={onKeyDown}
      />
      <div style={{ "--share": `${(1 - share) * 100}%` } as CSSProperties}>{second}</div>
    </div>
  );
}

function readShare(storageKey: string): number | undefined {
  const share = Number(localStorage.getItem(`waggle.split.${storageKey}`) ?? NaN);
  return share >= shareMin && share <= shareMax ? share : undefined;
}
