// Columns of a list in a narrow window: name, status and age stand in one column, the first, so
// that they and the question are in view without scrolling sideways.

import type { RowData } from "@tanstack/react-table";
import { useMemo } from "react";
import type { Column } from "../../design/table.tsx";
import { useIsNarrowWindow } from "../../shell/shell.tsx";
import "./narrow-columns.css";

/** Returns the columns; those of a narrow window with their brief column first. */
export function useNarrowColumns<Item extends RowData>(
  columns: readonly Column<Item>[],
): readonly Column<Item>[] {
  const isNarrow = useIsNarrowWindow();
  return useMemo(() => (isNarrow ? foldColumns(columns) : columns), [isNarrow, columns]);
}

const briefWidthPx = 152;
const questionWidthPx = 176;

function foldColumns<Item extends RowData>(
  columns: readonly Column<Item>[],
): readonly Column<Item>[] {
  const [name, status, started] = ["name", "status", "started"].map((id) =>
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
        {started?.cell(row)}
      </span>
    ),
  };
  const rest = columns
    .filter((column) => column !== name && column !== status && column !== started)
    .map((column) => (column.id === "question" ? { ...column, width: questionWidthPx } : column));
  return [brief, ...rest];
}
