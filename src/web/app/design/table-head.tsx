// The head of `Table`: names of columns, their order and their width.

import type { RowData } from "@tanstack/react-table";
import { ArrowDown, ArrowUp } from "lucide-react";
import type { KeyboardEvent } from "react";
import { Checkbox } from "./input.tsx";
import type { Column, GridTable } from "./table-model.ts";

type TableHeadProps<Item extends RowData> = {
  readonly grid: GridTable<Item>;
  readonly selected: ReadonlySet<string> | undefined;
  readonly onSelect: ((selected: ReadonlySet<string>) => void) | undefined;
};

const stepPx = 16;

export function TableHead<Item extends RowData>({
  grid,
  selected,
  onSelect,
}: TableHeadProps<Item>) {
  const headers = grid.getFlatHeaders();
  const ids = grid.getRowModel().rows.map(({ id }) => id);
  const isAll = selected !== undefined && selected.size > 0 && ids.every((id) => selected.has(id));
  return (
    <div className="table-head" role="rowgroup">
      <div role="row" aria-rowindex={1}>
        {selected === undefined ? null : (
          <div className="table-box" role="columnheader">
            <Checkbox
              label="Select all rows that are loaded"
              isLabelHidden
              checked={isAll}
              isPartial={selected.size > 0 && !isAll}
              onChange={() => onSelect?.(new Set(isAll ? [] : ids))}
            />
          </div>
        )}
        {headers.map((header) => {
          const column = header.column.columnDef.meta as Column<Item>;
          const order = header.column.getIsSorted();
          const isSortable = header.column.getCanSort();
          const resize = header.getResizeHandler();
          return (
            <div
              key={header.id}
              className="table-heading"
              role="columnheader"
              data-align={column.align}
              aria-sort={sortNames[String(order)] ?? (isSortable ? "none" : undefined)}
              style={{ width: header.getSize(), flexGrow: column.grow ?? 0 }}
            >
              {isSortable ? (
                <button type="button" onClick={header.column.getToggleSortingHandler()}>
                  <span className="truncate" title={column.header}>
                    {column.header}
                  </span>
                  {order === "asc" ? <ArrowUp aria-hidden /> : null}
                  {order === "desc" ? <ArrowDown aria-hidden /> : null}
                </button>
              ) : (
                <span className="truncate" title={column.header}>
                  {column.header}
                </span>
              )}
              <span
                className="table-edge"
                role="separator"
                aria-orientation="vertical"
                aria-label={`Width of ${column.header}`}
                aria-valuenow={header.getSize()}
                aria-valuemin={48}
                aria-valuemax={1_200}
                tabIndex={-1}
                onMouseDown={resize}
                onTouchStart={resize}
                onDoubleClick={() => header.column.resetSize()}
                onKeyDown={(event) => {
                  const width = widthAfter(event, header.getSize());
                  if (width === undefined) return;
                  event.preventDefault();
                  grid.setColumnSizing((sizes) => ({ ...sizes, [header.column.id]: width }));
                }}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
}

const sortNames: Readonly<Record<string, "ascending" | "descending">> = {
  asc: "ascending",
  desc: "descending",
};

function widthAfter({ key }: KeyboardEvent, widthPx: number): number | undefined {
  if (key === "ArrowLeft") return Math.max(48, widthPx - stepPx);
  if (key === "ArrowRight") return widthPx + stepPx;
  return undefined;
}
