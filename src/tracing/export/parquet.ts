// Encodes an event stream as a Parquet file, row group by row group in bounded memory. Free-form
// fields are JSON columns, times are timestamps. A stream that was cut off has no footer, so no
// reader accepts the file as complete.

import { ByteWriter, type ColumnSource, ParquetWriter, type SchemaElement } from "hyparquet-writer";
import type { Event } from "../../../gen/waggle/v1/event_pb.js";
import type { StreamEventsResponse } from "../../../gen/waggle/v1/export_pb.js";
import { ServiceError } from "../../base/errors.ts";

export const parquetContentType = "application/vnd.apache.parquet";

/** Maximum rows, and characters of JSON and text, of a row group. */
const groupRowsMax = 5_000;
const groupCharactersMax = 8_000_000;

type Kind = "text" | "time" | "number" | "json";

/** A column: name, kind, and a reader of its value. JSON is text, times are Unix milliseconds. */
type Column = {
  readonly name: string;
  readonly kind: Kind;
  readonly read: (event: Event) => unknown;
};

const columns: readonly Column[] = [
  { name: "event_id", kind: "text", read: (event) => event.eventId },
  { name: "project_id", kind: "text", read: (event) => event.projectId },
  { name: "session_id", kind: "text", read: (event) => event.sessionId },
  { name: "parent_id", kind: "text", read: (event) => event.parentId },
  { name: "event_type", kind: "text", read: (event) => event.eventType },
  { name: "event_name", kind: "text", read: (event) => event.eventName },
  { name: "source", kind: "text", read: (event) => event.source },
  { name: "error", kind: "text", read: (event) => event.error },
  { name: "start_time", kind: "time", read: (event) => event.startTime },
  { name: "end_time", kind: "time", read: (event) => event.endTime },
  { name: "duration", kind: "number", read: (event) => event.duration },
  { name: "children_ids", kind: "json", read: (event) => event.childrenIds },
  { name: "config", kind: "json", read: (event) => event.config },
  { name: "inputs", kind: "json", read: (event) => event.inputs },
  { name: "outputs", kind: "json", read: (event) => event.outputs },
  { name: "metadata", kind: "json", read: (event) => event.metadata },
  { name: "metrics", kind: "json", read: (event) => event.metrics },
  { name: "feedback", kind: "json", read: (event) => event.feedback },
  { name: "user_properties", kind: "json", read: (event) => event.userProperties },
  { name: "cost_estimate", kind: "json", read: readEstimate },
];

const elements = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  // We serialise JSON ourselves, once: the column is bytes to the writer and JSON to readers.
  json: { type: "BYTE_ARRAY", logical_type: { type: "JSON" } },
  time: { type: "INT64", converted_type: "TIMESTAMP_MILLIS" },
  number: { type: "DOUBLE" },
} as const satisfies Record<Kind, Omit<SchemaElement, "name">>;

const schema: SchemaElement[] = [
  { name: "event", num_children: columns.length },
  ...columns.map(({ name, kind }) => ({
    name,
    repetition_type: "OPTIONAL" as const,
    ...elements[kind],
  })),
];

/**
 * Yields the bytes of a Parquet file of the stream's events, in pieces of about one row group.
 * Absent fields are null, and so are fields not among the `projections`; undefined means all.
 * Throws if the stream ends without its end message.
 */
export async function* encodeParquet(
  messages: AsyncIterable<StreamEventsResponse>,
  projections?: ReadonlySet<string>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const writer = new ByteWriter();
  const file = new ParquetWriter({ writer, schema, createdBy: "waggle" });
  const shown = columns.map((column) => projected(column, projections));
  let group = new RowGroup(shown);
  let isWhole = false;
  for await (const { item } of messages) {
    if (item.case === "event") group.add(item.value);
    isWhole ||= item.case === "end";
    if (!group.isFull()) continue;
    await file.write(group.take());
    group = new RowGroup(shown);
    yield takeBytes(writer);
  }
  if (!isWhole) throw new ServiceError("INTERNAL", "the event stream ended without its end");
  if (group.rows > 0) await file.write(group.take());
  await file.finish();
  yield takeBytes(writer);
}

/** Returns the cost estimate in the JSON form of the other answers. */
function readEstimate({ costEstimate: estimate }: Event): unknown {
  if (!estimate) return undefined;
  const { cost = null, reason, priceTable } = estimate;
  return { cost, reason, price_table: priceTable };
}

// A message cannot tell an absent list from an empty one; only the request tells whether the list
// was projected.
function projected(column: Column, projections: ReadonlySet<string> | undefined): Column {
  const isShown = column.name !== "children_ids" || (projections?.has(column.name) ?? true);
  return isShown ? column : { ...column, read: () => undefined };
}

/** Rows of one group, stored by column. */
class RowGroup {
  rows = 0;
  private characters = 0;
  private readonly shown: readonly Column[];
  private readonly values: unknown[][];

  constructor(shown: readonly Column[]) {
    this.shown = shown;
    this.values = shown.map(() => []);
  }

  add(event: Event): void {
    this.rows += 1;
    for (const [index, { kind, read }] of this.shown.entries()) {
      const value = toValue(kind, read(event));
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

function toValue(kind: Kind, value: unknown): unknown {
  if (value === undefined) return null;
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
