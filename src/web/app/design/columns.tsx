// Columns of common kinds for `Table`: a text, a number, a time, an id.

import type { RowData } from "@tanstack/react-table";
import { type Column, timeWidth } from "./table-model.ts";
import { Count, Identifier, Time, type TimeProps } from "./values.tsx";

type Place<Item extends RowData> = Omit<Column<Item>, "cell">;

type TextColumn<Item extends RowData> = Place<Item> & {
  readonly text: (row: Item) => string | undefined;
};

/** One line of text, all of it on hover; a dash for none. */
export function textColumn<Item extends RowData>({ text, ...place }: TextColumn<Item>) {
  const cell = (row: Item) => (
    <span className="truncate" title={text(row)}>
      {text(row) ?? "–"}
    </span>
  );
  return { ...place, cell } satisfies Column<Item>;
}

type CountColumn<Item extends RowData> = Place<Item> & {
  readonly count: (row: Item) => number | undefined;
};

export function countColumn<Item extends RowData>({ count, ...place }: CountColumn<Item>) {
  const cell = (row: Item) => <Count value={count(row)} />;
  return { align: "end", ...place, cell } satisfies Column<Item>;
}

type TimeColumn<Item extends RowData> = Place<Item> & {
  readonly at: (row: Item) => TimeProps["value"];
};

export function timeColumn<Item extends RowData>({ at, ...place }: TimeColumn<Item>) {
  const cell = (row: Item) => <Time value={at(row)} />;
  return { width: timeWidth, ...place, cell } satisfies Column<Item>;
}

type IdColumn<Item extends RowData> = Partial<Place<Item>> & {
  readonly idOf: (row: Item) => string;
};

export function idColumn<Item extends RowData>({ idOf, ...place }: IdColumn<Item>) {
  const cell = (row: Item) => <Identifier value={idOf(row)} />;
  return {
    id: "id",
    header: "Id",
    width: 168,
    hasControl: true,
    ...place,
    cell,
  } satisfies Column<Item>;
}
