// Events as readers select them, all fields or some: columns in, records out. Called by the stores
// of export and sessions, whose statements name the table `events as e`.

import type { PendingQuery, Row } from "postgres";
import type { JsonObject } from "../../base/json.ts";
import type { Sql } from "../../postgres/database.ts";
import { buckets, type StoredEvent } from "./event.ts";
import { unescapeJson, unescapeText } from "./postgres-text.ts";

/** Names of an event's fields, as projections take them. */
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

/** An event with the fields that were selected; its id, start and type always are. */
export type SelectedEvent = Partial<StoredEvent> &
  Pick<StoredEvent, "event_id" | "start_time" | "event_type">;

export type SelectedRow = {
  readonly event_id: string;
  readonly start_time_us: number;
  readonly event_type: StoredEvent["event_type"];
} & Readonly<Record<string, unknown>>;

const columns: Readonly<Record<EventFieldName, (sql: Sql) => PendingQuery<Row[]>>> = {
  event_id: (sql) => sql`e.event_id`,
  project_id: (sql) => sql`e.project_id`,
  source: (sql) => sql`e.source`,
  event_name: (sql) => sql`e.event_name`,
  event_type: (sql) => sql`e.event_type`,
  session_id: (sql) => sql`e.session_id`,
  parent_id: (sql) => sql`e.parent_id, e.session_id`,
  children_ids: (sql) => sql`e.children_ids`,
  error: (sql) => sql`e.error`,
  start_time: (sql) => sql`e.start_time_us`,
  end_time: (sql) => sql`e.end_time_us`,
  // With the end, from which a duration that was not sent is derived.
  duration: (sql) => sql`e.duration_ms, e.end_time_us`,
  // As text, since escaped characters are put back before the JSON is read.
  config: (sql) => sql`e.config::text as config`,
  inputs: (sql) => sql`e.inputs::text as inputs`,
  outputs: (sql) => sql`e.outputs::text as outputs`,
  metadata: (sql) => sql`e.metadata::text as metadata`,
  metrics: (sql) => sql`e.metrics::text as metrics`,
  feedback: (sql) => sql`e.feedback::text as feedback`,
  user_properties: (sql) => sql`e.user_properties::text as user_properties`,
  cost_estimate: (sql) => sql`e.cost_estimate::text as cost_estimate`,
};

const always: ReadonlySet<EventFieldName> = new Set(["event_id", "start_time", "event_type"]);

/** Returns the select list of the fields that `projections` names, all when undefined. */
export function selectedColumns(
  sql: Sql,
  projections: ReadonlySet<EventFieldName> | undefined,
): PendingQuery<Row[]> {
  let list = sql`e.event_id, e.start_time_us, e.event_type`;
  for (const name of projections ?? eventFieldNames) {
    if (!always.has(name)) list = sql`${list}, ${columns[name](sql)}`;
  }
  return list;
}

/** Reads a row of `selectedColumns`. */
export function toSelectedEvent(row: SelectedRow): SelectedEvent {
  const event: Record<string, unknown> = {
    event_id: unescapeText(row.event_id),
    event_type: row.event_type,
    start_time: row.start_time_us / 1000,
  };
  for (const name of ["session_id", "parent_id", "event_name", "source", "error"] as const) {
    const value = row[name];
    if (value !== undefined) event[name] = value === null ? null : unescapeText(value as string);
  }
  const { children_ids, end_time_us, duration_ms } = row;
  if (Array.isArray(children_ids)) event["children_ids"] = children_ids.map(unescapeText);
  if (end_time_us !== undefined) {
    event["end_time"] = end_time_us === null ? null : (end_time_us as number) / 1000;
  }
  if (duration_ms !== undefined) event["duration"] = duration_ms;
  for (const bucket of buckets) {
    const text = row[bucket];
    if (text !== undefined) event[bucket] = parseBucket(text as string);
  }
  const { cost_estimate } = row;
  if (cost_estimate !== undefined) {
    event["cost_estimate"] = cost_estimate === null ? null : parseBucket(cost_estimate as string);
  }
  return event as SelectedEvent;
}

function parseBucket(text: string): JsonObject {
  return text === "{}" ? {} : (JSON.parse(unescapeJson(text)) as JsonObject);
}
