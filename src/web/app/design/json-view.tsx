// JsonView: JSON as a foldable tree. Its lines are virtual. Short strings wrap; long ones are cut
// in their line and shown in full below it, so that a megabyte is as light as a word.

import { useVirtualizer } from "@tanstack/react-virtual";
import { ChevronRight } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { type JsonLine, jsonLines } from "./json-lines.ts";
import { TextView } from "./text-view.tsx";
import { Copy } from "./values.tsx";
import "./json-view.css";

export type JsonViewProps = {
  readonly value: unknown;
  /** Read out as the name of the tree. */
  readonly label: string;
  /** Depth up to which it is open at first. */
  readonly openDepth?: number;
  /** Most lines that are seen before the view scrolls by itself. */
  readonly linesMax?: number;
};

const lineHeightPx = 24;
/** Characters of a string in its line; a longer one is opened like a container. */
const inlineChars = 160;
/** Line breaks of a string in its line; one with more is opened too. */
const inlineBreaks = 3;

/** Returns whether a string is too long to be shown as a whole in its line. */
function isLongText(value: unknown): value is string {
  if (typeof value !== "string") return false;
  return value.length > inlineChars || value.split("\n").length - 1 > inlineBreaks;
}

export function JsonView({ value, label, openDepth = 1, linesMax = 30 }: JsonViewProps) {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const scroller = useRef<HTMLDivElement>(null);
  const lines = useMemo(
    () => jsonLines(value, { toggled, openDepth }),
    [value, toggled, openDepth],
  );
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeightPx,
    getItemKey: (index) => lines[index]?.path ?? index,
    overscan: 10,
  });
  const toggle = (path: string): void => {
    const next = new Set(toggled);
    if (!next.delete(path)) next.add(path);
    setToggled(next);
  };
  return (
    <div
      ref={scroller}
      className="json-view"
      role="group"
      aria-label={label}
      tabIndex={0}
      style={{ maxHeight: linesMax * lineHeightPx }}
    >
      <div style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const line = lines[index];
          return line === undefined ? null : (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className="json-line"
              style={{ transform: `translateY(${start}px)` }}
            >
              <Line line={line} isToggled={toggled.has(line.path)} onToggle={toggle} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Levels of indentation that are drawn; deeper lines stand as far right and name their depth. */
const indentsMax = 24;

type LineProps = {
  readonly line: JsonLine;
  readonly isToggled: boolean;
  readonly onToggle: (path: string) => void;
};

function Line({ line, isToggled, onToggle }: LineProps) {
  const { path, depth, name, value, size, isOpen } = line;
  const isLong = isLongText(value);
  const canOpen = isLong || (size !== undefined && size > 0);
  const isShown = isLong ? isToggled : isOpen;
  const indent = { paddingLeft: Math.min(depth, indentsMax) * 16 };
  return (
    <>
      <div className="json-line-head" style={indent}>
        {canOpen ? (
          <button
            type="button"
            aria-expanded={isShown}
            aria-label={`${isShown ? "Fold" : "Unfold"} ${name ?? "all"}`}
            onClick={() => onToggle(path)}
          >
            <ChevronRight aria-hidden />
          </button>
        ) : (
          <span className="json-line-gap" />
        )}
        {depth > indentsMax ? <span className="json-summary">level {depth}</span> : null}
        {name === undefined ? null : <span className="json-name truncate">{name}</span>}
        <Value value={value} size={size} isOpen={isShown} />
        <Copy what="value" text={() => toText(value)} />
      </div>
      {isLong && isToggled ? (
        <div className="json-text" style={indent}>
          <TextView text={value} />
        </div>
      ) : null}
    </>
  );
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

type ValueProps = Pick<JsonLine, "value" | "size" | "isOpen">;

function Value({ value, size, isOpen }: ValueProps) {
  if (size !== undefined) {
    const what = Array.isArray(value)
      ? size === 1
        ? "item"
        : "items"
      : size === 1
        ? "key"
        : "keys";
    return <span className="json-summary">{isOpen ? "" : `${size} ${what}`}</span>;
  }
  if (typeof value === "string") {
    const isLong = isLongText(value);
    return (
      <span className="json-value" data-kind="string" data-wraps={!isLong} dir="auto">
        {value.length > inlineChars ? `${value.slice(0, inlineChars)}…` : value}
      </span>
    );
  }
  return (
    <span className="json-value" data-kind={typeof value}>
      {String(value)}
    </span>
  );
}
