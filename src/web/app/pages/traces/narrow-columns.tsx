// Columns of a list in a narrow window: name, status and age stand in one column, the first, so
// that they and the question are in view without scrolling sideways.

import type { RowData } from "@tanstack/react-table";
import { useMemo } from "react";
import type { Column } from "../../design/table.tsx";
import { useIsNarrowWindow } from "../../shell/shell.tsx";
import "./narrow-columns.css";

/** How the columns of a narrow window are made; ids of columns. */
export type NarrowForm = {
  /** The columns that stand in one. */
  readonly brief: { readonly status?: string; readonly name: string; readonly time: string };
  readonly briefWidthPx: number;
  /** Widths of the other columns in pixels, as far as they differ. */
  readonly widths: Readonly<Record<string, number>>;
  /** The other columns that are shown; absent for all, which may then scroll. */
  readonly shown?: readonly string[];
};

const formOfTraces: NarrowForm = {
  brief: { status: "status", name: "name", time: "started" },
  briefWidthPx: 152,
  widths: { question: 176 },
};

/** Returns the columns; those of a narrow window with their brief column first. */
export function useNarrowColumns<Item extends RowData>(
  columns: readonly Column<Item>[],
  form: NarrowForm = formOfTraces,
): readonly Column<Item>[] {
  const isNarrow = useIsNarrowWindow();
  return useMemo(
    () => (isNarrow ? foldColumns(columns, form) : columns),
    [isNarrow, columns, form],
  );
}

function foldColumns<Item extends RowData>(
  columns: readonly Column<Item>[],
  { brief: parts, briefWidthPx, widths, shown }: NarrowForm,
): readonly Column<Item>[] {
  const [name, status, time] = [parts.name, parts.status, parts.time].map((id) =>
    columns.find((column) => column.id === id),
  );
  if (!name) return columns;
  const brief: Column<Item> = {
    ...name,
    // Another column, so that a width chosen in a wide window does not count for it.
    id: "brief",
    width: briefWidthPx,
    cell: (row) => (
      <span className="brief">
        {status?.cell(row)}
        {name.cell(row)}
        {time?.cell(row)}
      </span>
    ),
  };
  const rest = columns
    .filter((column) => column !== name && column !== status && column !== time)
    .filter(({ id }) => shown?.includes(id) ?? true)
    .map((column) => ({ ...column, width: widths[column.id] ?? column.width }));
  return [brief, ...rest];
}
