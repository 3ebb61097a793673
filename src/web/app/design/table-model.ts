// The model of `Table`: what a column is, and TanStack Table's state for widths and order.

import {
  columnResizingFeature,
  columnSizingFeature,
  createSortedRowModel,
  type ReactTable,
  type RowData,
  rowSortingFeature,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { type ReactNode, useEffect, useMemo } from "react";

export type Column<Item extends RowData> = {
  /** Lower-case letters and `-`; also the name of its width. */
  readonly id: string;
  readonly header: string;
  readonly cell: (row: Item) => ReactNode;
  /** Pixels; default 120. */
  readonly width?: number;
  /** Share of the room that is left over; default 0. */
  readonly grow?: number;
  /** True if its cells have a button of their own, which a link must not hold. */
  readonly hasControl?: boolean;
  /** True for a column that a narrow window has room for beside the first. */
  readonly isMajor?: boolean;
  /** `end` for numbers. */
  readonly align?: "start" | "end";
  /**
   * Makes the column sortable here, in the browser: only for lists that are complete, since the
   * order of a list that is read by pages is the service's.
   */
  readonly sortValue?: (row: Item) => string | number | undefined;
};

/** Width of a column of times in pixels: a date with its year is the longest. */
export const timeWidth = 104;

export const features = tableFeatures({
  columnSizingFeature,
  columnResizingFeature,
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
});

export type GridTable<Item extends RowData> = ReactTable<typeof features, Item>;

const widthDefault = 120;
const widthMin = 48;

type GridOptions<Item extends RowData> = {
  readonly columns: readonly Column<Item>[];
  readonly rows: readonly Item[];
  readonly idOf: (row: Item) => string;
  readonly widthsKey?: string;
};

export function useGrid<Item extends RowData>({
  columns,
  rows,
  idOf,
  widthsKey,
}: GridOptions<Item>) {
  const definitions = useMemo(
    () =>
      columns.map((column) => ({
        id: column.id,
        header: column.header,
        accessorFn: (row: Item) => column.sortValue?.(row),
        size: column.width ?? widthDefault,
        minSize: widthMin,
        enableSorting: column.sortValue !== undefined,
        sortUndefined: "last" as const,
        sortFn: compareValues,
        meta: column,
      })),
    [columns],
  );
  const table = useTable({
    features,
    columns: definitions as never,
    data: rows as never,
    getRowId: idOf as never,
    columnResizeMode: "onChange",
    initialState: { columnSizing: readWidths(widthsKey) },
  }) as unknown as GridTable<Item>;
  const { columnSizing } = table.state;
  useEffect(() => {
    if (widthsKey !== undefined && Object.keys(columnSizing).length > 0) {
      localStorage.setItem(storageKey(widthsKey), JSON.stringify(columnSizing));
    }
  }, [widthsKey, columnSizing]);
  return table;
}

type Sortable = { getValue(columnId: string): unknown };

function compareValues(a: Sortable, b: Sortable, columnId: string): number {
  const [left, right] = [a.getValue(columnId), b.getValue(columnId)];
  if (typeof left === "number" && typeof right === "number") return left - right;
  return String(left).localeCompare(String(right), undefined, { numeric: true });
}

function storageKey(key: string): string {
  return `waggle.widths.${key}`;
}

function readWidths(key: string | undefined): Record<string, number> {
  const text = key === undefined ? null : localStorage.getItem(storageKey(key));
  if (text === null) return {};
  try {
    return JSON.parse(text) as Record<string, number>;
  } catch {
    // Widths that cannot be read are as none.
    return {};
  }
}
