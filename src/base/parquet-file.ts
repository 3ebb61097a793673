// Writes rows to a Parquet file row group by row group, in bounded memory. A file that was cut off
// has no footer, so no reader accepts it as complete.

import { ByteWriter, type ColumnSource, ParquetWriter, type SchemaElement } from "hyparquet-writer";
import { ServiceError } from "./errors.ts";

/** Returns the type and name of a Parquet file. */
export function parquetFile(name: string): {
  readonly mediaType: string;
  readonly fileName: string;
} {
  return { mediaType: "application/vnd.apache.parquet", fileName: `${name}.parquet` };
}

/** Maximum rows, and characters of JSON and text, of a row group. */
const groupRowsMax = 5_000;
const groupCharactersMax = 8_000_000;

export type ColumnKind = "text" | "time" | "number" | "json";

/** A column: name, kind, and a reader of its value. JSON is text, times are Unix milliseconds. */
export type Column<Row> = {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly read: (row: Row) => unknown;
};

const elements = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  // We serialise JSON ourselves, once: the column is bytes to the writer and JSON to readers.
  json: { type: "BYTE_ARRAY", logical_type: { type: "JSON" } },
  time: { type: "INT64", converted_type: "TIMESTAMP_MILLIS" },
  number: { type: "DOUBLE" },
} as const satisfies Record<ColumnKind, Omit<SchemaElement, "name">>;

/** A file's rows and their end, without which the file is not complete. */
export type RowOrEnd<Row> = { readonly row: Row } | "end" | undefined;

/**
 * Yields the bytes of a file of the rows that `toRow` finds in messages, in pieces of about one row
 * group. An absent value is null; `name` is that of a row. Throws if the end is missing.
 */
export async function* writeParquet<Row, Message>(
  name: string,
  columns: readonly Column<Row>[],
  messages: AsyncIterable<Message>,
  toRow: (message: Message) => RowOrEnd<Row>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const schema: SchemaElement[] = [
    { name, num_children: columns.length },
    ...columns.map((column) => ({
      name: column.name,
      repetition_type: "OPTIONAL" as const,
      ...elements[column.kind],
    })),
  ];
  const writer = new ByteWriter();
  const file = new ParquetWriter({ writer, schema, createdBy: "waggle" });
  let group = new RowGroup(columns);
  let isWhole = false;
  for await (const message of messages) {
    const found = toRow(message);
    if (found === "end") isWhole = true;
    else if (found) group.add(found.row);
    if (!group.isFull()) continue;
    await file.write(group.take());
    group = new RowGroup(columns);
    yield takeBytes(writer);
  }
  if (!isWhole) throw new ServiceError("INTERNAL", `the stream of ${name}s ended without its end`);
  if (group.rows > 0) await file.write(group.take());
  await file.finish();
  yield takeBytes(writer);
}

/** Rows of one group, stored by column. */
class RowGroup<Row> {
  rows = 0;
  private characters = 0;
  private readonly shown: readonly Column<Row>[];
  private readonly values: unknown[][];

  constructor(shown: readonly Column<Row>[]) {
    this.shown = shown;
    this.values = shown.map(() => []);
  }

  add(row: Row): void {
    this.rows += 1;
    for (const [index, { kind, read }] of this.shown.entries()) {
      const value = toValue(kind, read(row));
      if (typeof value === "string") this.characters += value.length;
      this.values[index]?.push(value);
    }
  }

  isFull(): boolean {
    return this.rows >= groupRowsMax || this.characters >= groupCharactersMax;
  }

  take(): { columnData: ColumnSource[]; rowGroupSize: number } {
    const columnData = this.shown.map(({ name, kind }, index): ColumnSource => {
      const data = this.values[index] ?? [];
      // Minimum and maximum of JSON are useless and would put whole documents into the footer.
      return kind === "json"
        ? { name, data: data.map(toBytes), statistics: false }
        : { name, data };
    });
    return { columnData, rowGroupSize: groupRowsMax };
  }
}

function toValue(kind: ColumnKind, value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (kind === "time") return BigInt(value as number);
  return kind === "json" ? JSON.stringify(value) : value;
}

const encoder = new TextEncoder();

function toBytes(text: unknown): unknown {
  return typeof text === "string" ? encoder.encode(text) : null;
}

/** Empties the writer's buffer; its offset in the file advances. */
function takeBytes(writer: ByteWriter): Uint8Array {
  const bytes = writer.getBytes().slice();
  writer.index = 0;
  return bytes;
}
