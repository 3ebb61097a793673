// Which columns a list shows: those of the address, or the page's own.

import type { RowData } from "@tanstack/react-table";
import type { Column } from "../../design/table.tsx";

export type PickedColumns<Item extends RowData> = {
  readonly columns: readonly Column<Item>[];
  /** Ids in their order. */
  readonly ids: readonly string[];
};

/** Returns the chosen columns that exist; those of the page if none of them does. */
export function pickColumns<Item extends RowData>(
  all: readonly Column<Item>[],
  chosen: readonly string[] | undefined,
  defaults: readonly string[],
): PickedColumns<Item> {
  const byId = new Map(all.map((column) => [column.id, column]));
  const columns = (chosen ?? defaults).flatMap((id) => byId.get(id) ?? []);
  const shown = columns.length > 0 ? columns : defaults.flatMap((id) => byId.get(id) ?? []);
  return { columns: shown, ids: shown.map(({ id }) => id) };
}
