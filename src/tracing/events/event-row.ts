// Selection of all or some fields of events: columns in, records out. Statements select from `e`,
// the table or a subquery with its columns.

import type { JsonObject } from "../../base/json.ts";
import { buckets, type StoredEvent } from "./event.ts";
import { unescapeJson, unescapeText } from "./postgres-text.ts";

/** Names of an event's fields, as in projections. */
export const eventFieldNames = [
  "event_id",
  "project_id",
  "source",
  "event_name",
  "event_type",
  "session_id",
  "parent_id",
  "children_ids",
  "error",
  "start_time",
  "end_time",
  "duration",
  ...buckets,
  "cost_estimate",
] as const;
export type EventFieldName = (typeof eventFieldNames)[number];

/** Fields to select in addition to id, start and type; undefined means all. */
export type Projections = ReadonlySet<EventFieldName> | undefined;

/** An event with its selected fields; id, start and type are always selected. */
export type SelectedEvent = Partial<StoredEvent> &
  Pick<StoredEvent, "event_id" | "start_time" | "event_type">;

export type SelectedRow = {
  readonly event_id: string;
  readonly start_time_us: number;
  readonly event_type: StoredEvent["event_type"];
  /** JSON text of an object with the selected free-form fields; empty if there are none. */
  readonly payload: string | null;
} & Readonly<Record<string, unknown>>;

const textColumns = ["event_name", "source", "session_id", "parent_id", "error"] as const;

/** Text columns other than ids. */
const longTexts: ReadonlySet<string> = new Set(["event_name", "source", "error"]);

/** Columns that each field is built from. A free-form field is built from its own column. */
const columnsOf: Readonly<Record<EventFieldName, readonly string[]>> = {
  event_id: [],
  project_id: [],
  start_time: [],
  event_type: [],
  source: ["source"],
  event_name: ["event_name"],
  session_id: ["session_id"],
  parent_id: ["parent_id", "session_id"],
  error: ["error"],
  end_time: ["end_time_us"],
  // Includes the end, which gives the duration if none was sent.
  duration: ["duration_ms", "end_time_us"],
  children_ids: ["children_ids"],
  config: ["config"],
  inputs: ["inputs"],
  outputs: ["outputs"],
  metadata: ["metadata"],
  metrics: ["metrics"],
  feedback: ["feedback"],
  user_properties: ["user_properties"],
  cost_estimate: ["cost_estimate"],
};

/** Free-form columns as members of a JSON object, in the form of arguments of `concat`. */
const memberText: Readonly<Record<string, string>> = {
  children_ids: `'"children_ids":', case when cardinality(e.children_ids) = 0 then '[]'
    else to_json(e.children_ids)::text end`,
  config: `'"config":', e.config`,
  inputs: `'"inputs":', e.inputs`,
  outputs: `'"outputs":', e.outputs`,
  metadata: `'"metadata":', e.metadata`,
  metrics: `'"metrics":', e.metrics`,
  feedback: `'"feedback":', e.feedback`,
  user_properties: `'"user_properties":', e.user_properties`,
  cost_estimate: `'"cost_estimate":', coalesce(e.cost_estimate::text, 'null')`,
};

/** Table columns of the selected fields, by kind: a statement reads each kind differently. */
export type EventColumns = {
  /** Text columns that may be long. */
  readonly texts: readonly string[];
  /** Number columns, and id columns, which are short. */
  readonly plain: readonly string[];
  /** Free-form columns, which are read as one text, `payload`. */
  readonly members: readonly string[];
};

/** Returns the columns that the projections need. */
export function columnsFor(projections: Projections): EventColumns {
  const names = new Set([...(projections ?? eventFieldNames)].flatMap((name) => columnsOf[name]));
  const isLong = (name: string): boolean => longTexts.has(name);
  return {
    texts: [...names].filter(isLong),
    plain: [...names].filter((name) => !isLong(name) && !(name in memberText)),
    members: [...names].filter((name) => name in memberText),
  };
}

/** Returns the SQL of a list of columns of `e`, including the columns that every row has. */
export function listColumns(names: readonly string[]): string {
  return ["event_id", "start_time_us", "event_type", ...names]
    .map((name) => `e.${name}`)
    .join(", ");
}

/**
 * Returns the SQL of the text of one JSON object with the free-form columns. One text is measured
 * at once, and is sent and parsed faster than one text per column.
 */
export function payloadText(members: readonly string[]): string {
  if (members.length === 0) return "''";
  return `concat('{', ${members.map((name) => memberText[name]).join(", ',', ")}, '}')`;
}

/** Converts a row; fields that were not selected stay absent. */
export function toSelectedEvent(row: SelectedRow): SelectedEvent {
  const event: Record<string, unknown> = row.payload ? parsePayload(row.payload) : {};
  event["event_id"] = unescapeText(row.event_id);
  event["event_type"] = row.event_type;
  event["start_time"] = row.start_time_us / 1000;
  for (const name of textColumns) {
    const value = row[name];
    if (value !== undefined) event[name] = value === null ? null : unescapeText(value as string);
  }
  const { end_time_us, duration_ms } = row;
  if (end_time_us !== undefined) {
    event["end_time"] = end_time_us === null ? null : (end_time_us as number) / 1000;
  }
  if (duration_ms !== undefined) event["duration"] = duration_ms;
  return event as SelectedEvent;
}

function parsePayload(text: string): JsonObject & Record<string, unknown> {
  return JSON.parse(unescapeJson(text)) as JsonObject & Record<string, unknown>;
}
