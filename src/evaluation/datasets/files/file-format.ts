// Formats of files of datapoints, and messages of the thread that reads them. Without side effects,
// because that thread imports this file.

import { quoteText } from "../../../base/quote-text.ts";

export const fileFormats = {
  "application/x-ndjson": "jsonl",
  "application/jsonl": "jsonl",
  "text/csv": "csv",
  "application/vnd.apache.parquet": "parquet",
} as const;

export type FileFormat = (typeof fileFormats)[keyof typeof fileFormats];

/** Columns of an exported file. All but the ids hold JSON in CSV and Parquet. */
export const fileColumns = [
  "id",
  "inputs",
  "history",
  "ground_truth",
  "metadata",
  "linked_event",
] as const;
export type FileColumn = (typeof fileColumns)[number];

/**
 * Throws a fault if a file has two columns of one name; an export, if it has other columns than
 * `fileColumns` or none for the inputs.
 */
export function assertColumns(names: readonly string[], isExport: boolean): void {
  const seen = new Set<string>();
  const doubled = names.find((name) => seen.size === seen.add(name).size);
  if (doubled !== undefined) throw new RowFault(`has two columns ${quoteText(doubled)}`);
  if (!isExport) return;
  const unknown = findUnknownColumn(names);
  if (unknown !== undefined) throw new RowFault(`${quoteText(unknown)} ${unknownColumn}`);
  if (!names.includes("inputs")) throw new RowFault("has no column inputs");
}

/** Text about a column that an export does not have, after its name. */
export const unknownColumn =
  "is no column of an export; name the columns that are inputs, ground_truth or history";

export function findUnknownColumn(names: readonly string[]): string | undefined {
  return names.find((name) => !fileColumns.some((column) => column === name));
}

/** Returns the type and name of a CSV file. */
export function csvFile(name: string): { readonly mediaType: string; readonly fileName: string } {
  return { mediaType: "text/csv", fileName: `${name}.csv` };
}

/** Characters that begin a formula in spreadsheets, and the apostrophe, which makes it a text. */
const formula = /^[=+\-@']/;

/** Returns the cell of CSV that no spreadsheet takes for a formula, whatever the text. */
export function toTextCell(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/** Returns the text of a cell of `toTextCell`. */
export function fromTextCell(cell: string): string {
  return cell.startsWith("'") && formula.test(cell.slice(1)) ? cell.slice(1) : cell;
}

/** Maximum rows of a message. */
export const rowsOfBatch = 500;

/** Message of the reading thread: rows as JSON, the end, or a fault of the file. */
export type FileMessage =
  | { readonly rows: readonly string[] }
  | { readonly isEnd: true }
  | { readonly fault: string };

/** A fault of a file, for its sender. */
export class RowFault extends Error {}
