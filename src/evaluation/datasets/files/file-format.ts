// Formats of files of datapoints, and messages of the thread that reads them. Without side effects,
// because that thread imports this file.

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

export const csvContentType = "text/csv";

/** Maximum rows of a message. */
export const rowsOfBatch = 500;

/** Message of the reading thread: rows as JSON, the end, or a fault of the file. */
export type FileMessage =
  { readonly rows: readonly string[] } | { readonly isEnd: true } | { readonly fault: string };

/** A fault of a file, for its sender. */
export class RowFault extends Error {}
