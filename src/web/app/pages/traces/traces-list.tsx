// One of the two lists: rows that are read on as one scrolls, a pill for rows that came in above,
// and what stands there when nothing matches.

import type { NavigateOptions } from "@tanstack/react-router";
import type { RowData } from "@tanstack/react-table";
import { ArrowUp, Pause, Waypoints } from "lucide-react";
import { useRef } from "react";
import { Button } from "../../design/button.tsx";
import { EmptyState, ErrorState, Loading } from "../../design/states.tsx";
import { type Column, Table } from "../../design/table.tsx";
import { formatCount } from "../../design/format.ts";
import { useRowPages } from "../../shell/row-pages.ts";
import type { List } from "./use-list.ts";

export type TracesListProps<Row extends RowData> = {
  readonly label: "Sessions" | "Events";
  readonly list: List<Row>;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly idOf: (row: Row) => string;
  readonly hasError: (row: Row) => boolean;
  /** Stable between renders. */
  readonly toPage: (row: Row) => NavigateOptions;
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (selected: ReadonlySet<string>) => void;
  readonly isNarrowed: boolean;
  readonly onWiden: () => void;
  /** Asks the events the same; absent in their own list. */
  readonly onEvents?: () => void;
  readonly onPause: () => void;
};

export function TracesList<Row extends RowData>(props: TracesListProps<Row>) {
  const { label, list, rows, idOf, hasError, isNarrowed, onWiden, onEvents } = props;
  const rowPages = useRowPages(props.toPage);
  const area = useRef<HTMLDivElement>(null);
  if (list.error && rows.length === 0) {
    return <ErrorState error={list.error} onRetry={list.retry} />;
  }
  if (list.isPending) return <Loading what={`Loading ${label.toLowerCase()}`} />;
  const toTop = (): void => {
    list.showWaiting();
    area.current?.querySelector('[role="grid"]')?.scrollTo({ top: 0 });
  };
  return (
    <div className="traces-list" ref={area}>
      {list.error ? <ErrorState error={list.error} onRetry={list.retry} isInline /> : null}
      {list.isLive ? <LiveBar fault={list.liveError} onPause={props.onPause} /> : null}
      <div className="traces-pill" role="status">
        {list.waiting === 0 ? null : (
          <Button size="small" variant="primary" icon={<ArrowUp />} onClick={toTop}>
            {formatCount(list.waiting)}
            {list.hasGap ? "+" : ""} new
          </Button>
        )}
      </div>
      <Table
        label={label}
        isMain
        widthsKey={`traces-${label.toLowerCase()}`}
        columns={props.columns}
        rows={rows}
        idOf={idOf}
        {...rowPages}
        selected={props.selected}
        onSelect={props.onSelect}
        toneOf={(row) => (hasError(row) ? "bad" : undefined)}
        onMore={list.hasMore ? list.readMore : undefined}
        isLoadingMore={list.isLoadingMore}
        onAtTop={list.setAtTop}
        freshIds={list.freshIds}
        empty={
          <EmptyState
            icon={<Waypoints />}
            title={`No ${label.toLowerCase()} here`}
            action={
              <span className="traces-empty-actions">
                <Button onClick={onWiden}>{isNarrowed ? "Clear filters" : "Last 30 days"}</Button>
                {isNarrowed && onEvents ? (
                  <Button onClick={onEvents}>Look in the events</Button>
                ) : null}
              </span>
            }
          >
            {!isNarrowed
              ? "Nothing was logged in this time: widen the range, or send a trace."
              : onEvents
                ? "Filters and words of this list are about sessions themselves, not their events."
                : "Nothing of this time matches all of it: clear the filters, or widen the range."}
          </EmptyState>
        }
      />
    </div>
  );
}

type LiveBarProps = { readonly fault: Error | null; readonly onPause: () => void };

/** Says that the list is followed, or why it is not just now. */
function LiveBar({ fault, onPause }: LiveBarProps) {
  return (
    <div className="traces-live" data-tone={fault ? "bad" : "good"}>
      <span className="traces-live-dot" aria-hidden />
      <span role="status" className="truncate">
        {fault
          ? `Not live just now: ${fault.message} Tried again every two seconds.`
          : "Live: new rows come in at the top."}
      </span>
      <Button size="small" variant="ghost" icon={<Pause />} onClick={onPause}>
        Pause
      </Button>
    </div>
  );
}
