// Encodes an event stream as a Parquet file. Free-form fields are JSON columns, times are
// timestamps.

import type { Event } from "../../../gen/waggle/v1/event_pb.js";
import type { StreamEventsResponse } from "../../../gen/waggle/v1/export_pb.js";
import { type Column as ColumnOf, writeParquet } from "../../base/parquet-file.ts";

type Column = ColumnOf<Event>;

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

/**
 * Yields the bytes of a Parquet file of the stream's events, in pieces of about one row group.
 * Absent fields are null, and so are fields not among the `projections`; undefined means all.
 * Throws if the stream ends without its end message.
 */
export function encodeParquet(
  messages: AsyncIterable<StreamEventsResponse>,
  projections?: ReadonlySet<string>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const shown = columns.map((column) => projected(column, projections));
  return writeParquet("event", shown, messages, ({ item }) =>
    item.case === "event" ? { row: item.value } : item.case,
  );
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
