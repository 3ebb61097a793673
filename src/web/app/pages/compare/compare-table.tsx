// CompareTable: the aligned steps of two sessions in virtual rows: A at the left, B beside it, the
// differences at the right.

import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useId, useRef } from "react";
import { formatCost, formatCount, formatDuration } from "../../design/format.ts";
import { revealRow } from "../../design/reveal-row.ts";
import "../../design/rows.css";
import { useCommands } from "../../shell/commands.ts";
import type { SessionEvent } from "../session/session-event.ts";
import { TypeIcon } from "../session/type-icon.tsx";
import type { AlignedRow } from "./align-trees.ts";
import { Difference } from "./difference.tsx";

export type CompareTableProps = {
  readonly rows: readonly AlignedRow[];
  readonly chosen: string | undefined;
  readonly onChoose: (key: string) => void;
};

const rowHeightPx = 30;
const indentsMax = 10;

export function CompareTable({ rows, chosen, onChoose }: CompareTableProps) {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeightPx,
    overscan: 12,
  });
  const at = rows.findIndex(({ key }) => key === chosen);
  const move = (step: number): void => {
    const next = Math.max(0, Math.min(rows.length - 1, at + step));
    revealRow(scroller.current, next, rowHeightPx);
    onChoose(rows[next]?.key ?? "");
  };
  useCommands([
    { id: "compare.next", title: "Next step", keys: "j", isKeyOnly: true, run: () => move(1) },
    { id: "compare.back", title: "Previous step", keys: "k", isKeyOnly: true, run: () => move(-1) },
  ]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      Home: -rows.length,
      End: rows.length,
    };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    move(step);
  };
  const shown = virtual.getVirtualItems();
  return (
    <div
      ref={scroller}
      className="rows"
      role="grid"
      aria-label="Steps of both sessions"
      aria-rowcount={rows.length + 1}
      aria-activedescendant={shown.some(({ index }) => index === at) ? `${id}-${at}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <Head />
      <div className="rows-body" role="rowgroup" style={{ height: virtual.getTotalSize() }}>
        {shown.map(({ index, start }) => {
          const row = rows[index];
          return row === undefined ? null : (
            <CompareRow
              key={row.key}
              id={`${id}-${index}`}
              index={index}
              row={row}
              topPx={start}
              isChosen={index === at}
              onChoose={onChoose}
            />
          );
        })}
      </div>
    </div>
  );
}

function Head() {
  return (
    <div className="rows-head" role="rowgroup">
      <div className="compare-cells" role="row">
        {["A", "B", "Duration", "Tokens", "Cost"].map((name) => (
          <span key={name} role="columnheader" data-column={name}>
            {name.length === 1 ? name : `Δ ${name.toLowerCase()}`}
          </span>
        ))}
      </div>
    </div>
  );
}

type CompareRowProps = {
  readonly id: string;
  readonly index: number;
  readonly row: AlignedRow;
  readonly topPx: number;
  readonly isChosen: boolean;
  readonly onChoose: (key: string) => void;
};

function CompareRow({ id, index, row, topPx, isChosen, onChoose }: CompareRowProps) {
  const { key, depth, a, b } = row;
  return (
    <div
      id={id}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isChosen}
      className="rows-row compare-cells"
      style={{ transform: `translateY(${topPx}px)` }}
      onClick={() => onChoose(key)}
    >
      <Step event={a} depth={depth} />
      <Step event={b} depth={depth} />
      <span role="gridcell" data-column="Duration">
        <Difference a={a?.durationMs} b={b?.durationMs} format={formatDuration} />
      </span>
      <span role="gridcell" data-column="Tokens">
        <Difference a={tokensOf(a)} b={tokensOf(b)} format={formatCount} />
      </span>
      <span role="gridcell" data-column="Cost">
        <Difference a={a?.cost} b={b?.cost} format={formatCost} />
      </span>
    </div>
  );
}

/** Tokens of a call; a step without any is not compared. */
function tokensOf(event: SessionEvent | undefined): number | undefined {
  return event && event.totalTokens > 0 ? event.totalTokens : undefined;
}

function Step({ event, depth }: { readonly event?: SessionEvent; readonly depth: number }) {
  if (!event) {
    return (
      <span role="gridcell" className="compare-step" data-absent>
        not in this session
      </span>
    );
  }
  return (
    <span
      role="gridcell"
      className="compare-step"
      data-error={event.error !== undefined}
      style={{ paddingLeft: Math.min(depth, indentsMax) * 12 }}
    >
      <TypeIcon type={event.type} />
      <span className="truncate" title={event.name}>
        {event.name}
      </span>
      <span className="compare-duration numeric">
        {event.durationMs === undefined ? "–" : formatDuration(event.durationMs)}
      </span>
    </span>
  );
}
