// TraceRow: one event of the tree, with its numbers and its bar on the session's time axis.

import { ChevronRight, CircleAlert, MessageSquare } from "lucide-react";
import { memo } from "react";
import { Cost, Duration, Tokens } from "../../design/values.tsx";
import type { TreeNode } from "./session-tree.ts";
import type { TimeAxis } from "./time-axis.ts";
import { TypeIcon } from "./type-icon.tsx";

export type TraceRowProps = {
  readonly id: string;
  readonly at: number;
  readonly node: TreeNode;
  readonly axis: TimeAxis;
  /** Greatest depth of the tree. */
  readonly levels: number;
  readonly topPx: number;
  readonly isSelected: boolean;
  readonly isFolded: boolean;
  readonly isHit: boolean;
  readonly onSelect: (at: number) => void;
  readonly onToggle: (at: number) => void;
};

/** Levels that are indented; deeper rows stand as far right and name their level. */
const indentsMax = 12;
const indentPx = 14;
/** Share of the column that indents take at most, so that the names of a deep tree have room. */
const indentShareMax = 0.25;

function indentOf(depth: number, levels: number): string {
  const share = (depth / Math.max(1, Math.min(levels, indentsMax))) * indentShareMax;
  return `min(${depth * indentPx}px, ${share * 100}%)`;
}

export const TraceRow = memo(function TraceRow(props: TraceRowProps) {
  const { id, at, node, levels, topPx, isSelected, isFolded, isHit, onSelect, onToggle } = props;
  const { event, depth, childCount } = node;
  const isBranch = childCount > 0;
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={isSelected}
      aria-expanded={isBranch ? !isFolded : undefined}
      className="rows-row trace-row"
      data-error={event.error !== undefined}
      data-hit={isHit}
      style={{ transform: `translateY(${topPx}px)` }}
      onClick={() => onSelect(at)}
      onDoubleClick={() => isBranch && onToggle(at)}
    >
      <span className="trace-step">
        <span
          className="trace-fold"
          style={{ marginLeft: indentOf(Math.min(depth, indentsMax), levels) }}
          data-open={isBranch && !isFolded}
          onClick={(click) => {
            if (!isBranch) return;
            click.stopPropagation();
            onToggle(at);
          }}
        >
          {isBranch ? <ChevronRight aria-hidden /> : null}
        </span>
        <TypeIcon type={event.type} />
        {depth > indentsMax ? <span className="trace-level numeric">{depth}</span> : null}
        <span className="trace-name truncate" title={event.name}>
          {event.name}
        </span>
        <Marks node={node} isFolded={isFolded} />
      </span>
      <span className="trace-number" data-column="tokens">
        <Tokens
          value={event.totalTokens > 0 ? event.totalTokens : undefined}
          prompt={event.promptTokens}
          completion={event.completionTokens}
        />
      </span>
      <span className="trace-number" data-column="cost">
        <Cost value={event.cost} isEstimate={event.isCostEstimate} />
      </span>
      <span className="trace-number" data-column="duration">
        <Duration value={event.durationMs} />
      </span>
      <Bar node={node} axis={props.axis} />
    </div>
  );
});

function Marks({ node, isFolded }: { readonly node: TreeNode; readonly isFolded: boolean }) {
  const { event, size } = node;
  return (
    <>
      {event.error === undefined ? null : (
        <span className="trace-mark" data-tone="bad" title={event.error}>
          <CircleAlert aria-hidden />
          <span className="visually-hidden">failed</span>
        </span>
      )}
      {event.hasFeedback ? (
        <span className="trace-mark" title="Has feedback">
          <MessageSquare aria-hidden />
          <span className="visually-hidden">has feedback</span>
        </span>
      ) : null}
      {event.model === undefined || event.model === "" ? null : (
        <span className="trace-model truncate" title={event.model}>
          {event.model}
        </span>
      )}
      {isFolded && size > 1 ? <span className="trace-model numeric">+{size - 1}</span> : null}
    </>
  );
}

function Bar({ node, axis }: Pick<TraceRowProps, "node" | "axis">) {
  const { type, startMs, endMs, error } = node.event;
  const from = axis.placeOf(startMs);
  const width = axis.placeOf(endMs) - from;
  return (
    <span className="trace-time" aria-hidden>
      {axis.gaps.map((gap) => (
        <span key={gap.from} className="trace-gap" style={place(gap.from, gap.to - gap.from)} />
      ))}
      <span
        className="trace-bar"
        data-type={type}
        data-error={error !== undefined}
        style={{ left: `min(${from * 100}%, 100% - 3px)`, width: `${width * 100}%` }}
      />
    </span>
  );
}

function place(from: number, width: number) {
  return { left: `${from * 100}%`, width: `${width * 100}%` };
}
