// Table: a long list as a grid. Rows are virtual, so that 100,000 of them scroll as ten do; columns
// are resized by their edge and sorted by their head; rows are chosen and opened by keys: j and k
// or the arrows move, Enter opens, x selects, Home and End go to the ends.

import type { Cell, Row, RowData } from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useEffect, useId, useRef, useState } from "react";
import type { CSSProperties, FocusEvent, KeyboardEvent, ReactNode } from "react";
import { useCommands } from "../shell/commands.ts";
import { copyRows } from "./copy-rows.ts";
import { Folded, useFolding } from "./folded.tsx";
import { Checkbox } from "./input.tsx";
import { revealRow } from "./reveal-row.ts";
import { runAct } from "./run-act.ts";
import { Loading } from "./states.tsx";
import { TableHead } from "./table-head.tsx";
import { type Column, type features, type GridTable, useGrid } from "./table-model.ts";
import "./table.css";

export type { Column } from "./table-model.ts";

export type TableProps<Item extends RowData> = {
  /** Read out as the name of the table. */
  readonly label: string;
  /** Stable between renders: outside of the component, or from useMemo. */
  readonly columns: readonly Column<Item>[];
  readonly rows: readonly Item[];
  readonly idOf: (row: Item) => string;
  readonly onOpen?: (row: Item) => void;
  /**
   * Address of the page that `onOpen` opens, which makes links of the row's cells; stable between
   * renders. Undefined for a row whose page is not known.
   */
  readonly hrefOf?: ((row: Item) => string | undefined) | undefined;
  /** Id of the row that is open beside the table. */
  readonly openId?: string | undefined;
  /** Ids of the selected rows; with it the rows have boxes. */
  readonly selected?: ReadonlySet<string>;
  readonly onSelect?: (selected: ReadonlySet<string>) => void;
  /** Reads the next page; called when its end comes near. */
  readonly onMore?: (() => void) | undefined;
  readonly isLoadingMore?: boolean;
  /** Stands in for the rows if there are none. */
  readonly empty?: ReactNode;
  /** Key under which this browser keeps the widths of the columns. */
  readonly widthsKey?: string;
  /** True for the main table of a page: its keys work wherever the focus is. */
  readonly isMain?: boolean;
  /** Marks a row, such as one with an error. */
  readonly toneOf?: (row: Item) => "bad" | undefined;
  /** Called when the reader comes to the top of the list, or leaves it. */
  readonly onAtTop?: (isAtTop: boolean) => void;
  /** Ids of rows that have just come in: they slide in where motion is welcome. */
  readonly freshIds?: ReadonlySet<string>;
};

const lineHeightPx = 32;
const foldedLinePx = 24;
/** Width in pixels of the columns that stand in pairs when they are folded. */
const pairWidthMax = 168;
/** Rows before the end at which the next page is asked for. */
const moreRows = 30;

export function Table<Item extends RowData>(props: TableProps<Item>) {
  const { label, rows, empty, onMore, isLoadingMore = false, selected } = props;
  const { isNarrow, shown: columns, folded } = useFolding(props.columns);
  // Widths that were chosen in a wide window do not count for a narrow one.
  const grid = useGrid({ ...props, columns, ...(isNarrow && { widthsKey: undefined }) });
  const rowHeightPx = lineHeightPx + foldedLines(folded) * foldedLinePx;
  const scroller = useRef<HTMLDivElement>(null);
  const items = grid.getRowModel().rows;
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeightPx,
    overscan: 12,
  });
  useEffect(() => virtual.measure(), [virtual, rowHeightPx]);
  const moves = useMoves(props, items, {
    scrollTo: (index) => revealRow(scroller.current, index, rowHeightPx),
    focus: () => scroller.current?.focus({ preventScroll: true }),
  });
  const id = useId();
  const shown = virtual.getVirtualItems();
  const lastShown = shown.at(-1)?.index ?? 0;
  const isNearEnd = items.length > 0 && lastShown >= items.length - moreRows;
  useEffect(() => {
    if (isNearEnd && !isLoadingMore) onMore?.();
  }, [isNearEnd, isLoadingMore, onMore, items.length]);
  const activeId = moves.active < 0 ? undefined : `${id}-${moves.active}`;
  if (rows.length === 0 && empty !== undefined) return <div className="table-empty">{empty}</div>;
  return (
    <div
      ref={scroller}
      className="table"
      role="grid"
      aria-label={label}
      aria-rowcount={onMore === undefined ? items.length + 1 : -1}
      aria-multiselectable={selected !== undefined}
      aria-activedescendant={
        shown.some(({ index }) => index === moves.active) ? activeId : undefined
      }
      tabIndex={0}
      data-narrow={isNarrow}
      style={widthsOf(grid)}
      onKeyDown={moves.onKeyDown}
      onCopy={copyRows}
      onScroll={(event) => props.onAtTop?.(event.currentTarget.scrollTop < lineHeightPx)}
    >
      <TableHead grid={grid} selected={selected} onSelect={props.onSelect} />
      <div className="table-rows" role="rowgroup" style={{ height: virtual.getTotalSize() }}>
        {shown.map(({ index, start }) => {
          const row = items[index];
          return row === undefined ? null : (
            <TableRow
              key={row.id}
              {...props}
              columns={columns}
              folded={folded}
              heightPx={rowHeightPx}
              row={row}
              elementId={`${id}-${index}`}
              index={index}
              topPx={start}
              isActive={index === moves.active}
              onActivate={() => moves.setActive(index)}
            />
          );
        })}
      </div>
      {isLoadingMore ? <Loading what="Loading more rows" /> : null}
    </div>
  );
}

function isLong<Item extends RowData>({ grow = 0, width = 0 }: Column<Item>): boolean {
  return grow > 0 || width > pairWidthMax;
}

/** Returns the number of lines of the folded columns, two short ones in a line. */
function foldedLines<Item extends RowData>(folded: readonly Column<Item>[]): number {
  const long = folded.filter(isLong).length;
  return long + Math.ceil((folded.length - long) / 2);
}

/** Widths as variables of the table, so that no cell renders while a column is resized. */
function widthsOf<Item extends RowData>(grid: GridTable<Item>): CSSProperties {
  const widths = grid
    .getFlatHeaders()
    .map((header) => [`--column-${header.column.id}`, `${header.getSize()}px`]);
  return Object.fromEntries(widths) as CSSProperties;
}

type TableRowProps<Item extends RowData> = TableProps<Item> & {
  readonly row: Row<typeof features, Item>;
  readonly elementId: string;
  readonly index: number;
  readonly topPx: number;
  readonly heightPx: number;
  readonly folded: readonly Column<Item>[];
  readonly isActive: boolean;
  readonly onActivate: () => void;
};

function TableRow<Item extends RowData>(props: TableRowProps<Item>) {
  const { row, elementId, index, topPx, isActive, onActivate, onOpen, hrefOf } = props;
  const { selected, onSelect } = props;
  const isSelected = selected?.has(row.id) === true;
  return (
    <div
      id={elementId}
      className="table-row"
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selected === undefined ? row.id === props.openId : isSelected}
      data-active={isActive}
      data-open={row.id === props.openId}
      data-tone={props.toneOf?.(row.original)}
      data-opens={onOpen !== undefined}
      data-fresh={props.freshIds?.has(row.id) === true}
      style={{ transform: `translateY(${topPx}px)`, height: props.heightPx }}
      onClick={(event) => {
        if (hrefOf) {
          // The browser itself opens the link in another tab or window.
          if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
          event.preventDefault();
        }
        onActivate();
        // A click that ends the marking of text opens nothing.
        if (globalThis.getSelection()?.isCollapsed !== false) onOpen?.(row.original);
      }}
    >
      {selected === undefined ? null : (
        <div className="table-box" role="gridcell" onClick={(event) => event.stopPropagation()}>
          <Checkbox
            label={`Select row ${index + 1}`}
            isLabelHidden
            checked={isSelected}
            onChange={() => onSelect?.(toggled(selected, row.id))}
          />
        </div>
      )}
      <TableCells row={row} columns={props.columns} folded={props.folded} hrefOf={hrefOf} />
    </div>
  );
}

type TableCellsProps<Item extends RowData> = {
  readonly row: Row<typeof features, Item>;
  /** Cells change with the columns, although the row stays. */
  readonly columns: readonly Column<Item>[];
  readonly folded: readonly Column<Item>[];
  readonly hrefOf: TableProps<Item>["hrefOf"];
};

/** Rendered once for a row: scrolling only moves the row. */
const TableCells = memo(function TableCells<Item extends RowData>({
  row,
  folded,
  hrefOf,
}: TableCellsProps<Item>) {
  const href = hrefOf?.(row.original);
  const items = folded.map((column) => ({
    header: column.header,
    isLong: isLong(column),
    content: linked(column, row.original, href),
  }));
  return (
    <>
      {row.getAllCells().map((cell) => (
        <TableCell key={cell.id} cell={cell} href={href} />
      ))}
      {items.length === 0 ? null : (
        <div className="table-folded" role="gridcell">
          <Folded items={items} />
        </div>
      )}
    </>
  );
}) as <Item extends RowData>(props: TableCellsProps<Item>) => ReactNode;

type TableCellProps<Item extends RowData> = {
  readonly cell: Cell<typeof features, Item>;
  readonly href: string | undefined;
};

function TableCell<Item extends RowData>({ cell, href }: TableCellProps<Item>) {
  const column = cell.column.columnDef.meta as Column<Item>;
  return (
    <div
      className="table-cell"
      role="gridcell"
      data-align={column.align}
      style={{ width: `var(--column-${column.id})`, flexGrow: column.grow ?? 0 }}
    >
      {linked(column, cell.row.original, href)}
    </div>
  );
}

/** Returns the content of a cell, as a link to the row's page unless it has a control. */
function linked<Item extends RowData>(column: Column<Item>, row: Item, href: string | undefined) {
  const content = column.cell(row);
  if (href === undefined || column.hasControl === true) return content;
  return (
    // The link cannot be dragged, so that its text can be selected; the table keeps the focus.
    <a className="table-link" href={href} tabIndex={-1} draggable={false} onFocus={focusGrid}>
      {content}
    </a>
  );
}

/** Moves the focus from a link to its table; a scroll would move the link from the pointer. */
function focusGrid({ currentTarget }: FocusEvent<HTMLElement>): void {
  currentTarget.closest<HTMLElement>('[role="grid"]')?.focus({ preventScroll: true });
}

function toggled(selected: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(selected);
  if (!next.delete(id)) next.add(id);
  return next;
}

type Moves = {
  /** Index of the row that the keys act on; -1 for none. */
  readonly active: number;
  readonly setActive: (index: number) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
};

const pageRows = 20;

function useMoves<Item extends RowData>(
  { onOpen, selected, onSelect, isMain = false }: TableProps<Item>,
  items: readonly Row<typeof features, Item>[],
  { scrollTo, focus }: { scrollTo: (index: number) => void; focus: () => void },
): Moves {
  // The row by its id, since rows that come in above it change its place.
  const [activeId, setActiveId] = useState<string>();
  const active = activeId === undefined ? -1 : items.findIndex(({ id }) => id === activeId);
  const setActive = (index: number): void => setActiveId(items[index]?.id);
  const move = (index: number): void => {
    const next = Math.max(0, Math.min(items.length - 1, index));
    setActive(next);
    scrollTo(next);
  };
  const row = items[active];
  const acts: Readonly<Record<string, () => void>> = {
    j: () => move(active + 1),
    ArrowDown: () => move(active + 1),
    k: () => move(active - 1),
    ArrowUp: () => move(active - 1),
    PageDown: () => move(active + pageRows),
    PageUp: () => move(active - pageRows),
    Home: () => move(0),
    End: () => move(items.length - 1),
    ...(row && onOpen && { Enter: () => onOpen(row.original) }),
    ...(row && selected && { x: () => onSelect?.(toggled(selected, row.id)) }),
  };
  // By these keys the focus comes into the table, so that Enter opens the row that was moved to and
  // does not press a button that was left behind.
  const enter = (act: (() => void) | undefined) => () => {
    focus();
    act?.();
  };
  const commands = [
    { id: "list.next", title: "Next row", keys: "j", run: enter(acts["j"]) },
    { id: "list.previous", title: "Previous row", keys: "k", run: enter(acts["k"]) },
    { id: "list.open", title: "Open the row", keys: "enter", run: acts["Enter"] },
    { id: "list.select", title: "Select the row", keys: "x", run: acts["x"] },
  ].filter(({ id }) => isMain && (id !== "list.select" || selected !== undefined));
  const nothing = () => undefined;
  useCommands(
    commands.map(({ run = nothing, ...rest }) => ({
      ...rest,
      group: "List",
      isKeyOnly: true,
      run,
    })),
  );
  return {
    active,
    setActive,
    onKeyDown: (event) => {
      if (event.target === event.currentTarget) runAct(event, acts);
    },
  };
}
