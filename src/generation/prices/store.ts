// SQL for estimating costs again: reads the priced parts of a project's model events and their
// estimates. Every statement names its project.

import type { JsonObject } from "../../base/json.ts";
import type { Sql } from "../../postgres/database.ts";
import type { CostEstimate, PricedEvent } from "../../tracing/events/event.ts";
import { type ChangedRow, markChanged } from "../../tracing/events/mark-store.ts";
import {
  escapeJson,
  escapeText,
  unescapeJson,
  unescapeText,
} from "../../tracing/events/postgres-text.ts";
import { pricedConfigKeys, pricedMetadataKeys } from "./event-usage.ts";

/** Start times in microseconds: `fromUs` inclusive, `toUs` exclusive. */
export type Span = { readonly fromUs: number; readonly toUs: number };

/** Position of an event in a project, by start time. */
export type EventPosition = { readonly startTimeUs: number; readonly eventId: string };

/** Model event reduced to the fields that determine its cost, with its estimate. */
export type EstimatedEvent = EventPosition & {
  readonly priced: PricedEvent;
  readonly estimate: CostEstimate | null;
};

/** Returns up to `limit` model events of a span after a position, by start time. */
export async function listModelEvents(
  sql: Sql,
  projectId: string,
  { fromUs, toUs }: Span,
  { after, limit }: { readonly after: EventPosition | undefined; readonly limit: number },
): Promise<EstimatedEvent[]> {
  const { startTimeUs, eventId } = after ?? { startTimeUs: fromUs, eventId: "" };
  // The inner query reads only the index, which contains the type, and skips other events.
  const rows = await sql<EstimatedRow[]>`
    select ${columns(sql)}
    from (
      select event_id
      from events
      where project_id = ${projectId} and event_type = 'model'
        and (start_time_us, event_id) > (${startTimeUs}, ${escapeText(eventId)})
        and start_time_us < ${toUs}
      order by start_time_us, event_id
      limit ${limit}) as page
    join events as e on e.project_id = ${projectId} and e.event_id = page.event_id
    order by e.start_time_us, e.event_id`;
  return rows.map(toEstimatedEvent);
}

/** Locks the model events with the ids, in the order that every writer uses, and returns them. */
export async function lockModelEvents(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
): Promise<EstimatedEvent[]> {
  const rows = await sql<EstimatedRow[]>`
    select ${columns(sql)}
    from events as e
    where e.project_id = ${projectId} and e.event_id = any(${eventIds.map(escapeText)})
      and e.event_type = 'model'
    order by e.event_id
    for no key update`;
  return rows.map(toEstimatedEvent);
}

/** Sets the estimates of locked events and changes nothing else. */
export async function setEstimates(
  sql: Sql,
  projectId: string,
  estimates: readonly { readonly eventId: string; readonly estimate: CostEstimate | null }[],
): Promise<void> {
  const rows = estimates.map(({ eventId, estimate }) => ({ event_id: eventId, estimate }));
  const changed = await sql<ChangedRow[]>`
    update events set cost_estimate = incoming.estimate
    from jsonb_to_recordset(${escapeJson(JSON.stringify(rows))}::text::jsonb) as incoming (
      event_id text, estimate jsonb)
    where events.project_id = ${projectId} and events.event_id = incoming.event_id
    returning events.event_type, events.start_time_us`;
  await markChanged(sql, projectId, changed);
}

type EstimatedRow = {
  readonly event_id: string;
  readonly start_time_us: number;
  readonly config: string;
  readonly metadata: string;
  readonly cost_estimate: string | null;
};

/**
 * Maximum bytes of a value: a larger one is neither a count nor a name, and thousands of them would
 * fill the memory.
 */
const valueBytesMax = 10_000;

function columns(sql: Sql) {
  const pick = (bucket: ReturnType<Sql>, keys: readonly string[]) => sql`
    (select coalesce(jsonb_object_agg(key, value), '{}')::text
      from jsonb_each(${bucket})
      where key = any(${[...keys]}) and pg_column_size(value) <= ${valueBytesMax})`;
  return sql`
    e.event_id, e.start_time_us, e.cost_estimate::text as cost_estimate,
    ${pick(sql`e.config`, pricedConfigKeys)} as config,
    ${pick(sql`e.metadata`, pricedMetadataKeys)} as metadata`;
}

function toEstimatedEvent(row: EstimatedRow): EstimatedEvent {
  return {
    eventId: unescapeText(row.event_id),
    startTimeUs: row.start_time_us,
    priced: {
      event_type: "model",
      start_time: row.start_time_us / 1000,
      config: parseJson(row.config),
      metadata: parseJson(row.metadata),
    },
    estimate:
      row.cost_estimate === null ? null : (parseJson(row.cost_estimate) as unknown as CostEstimate),
  };
}

function parseJson(text: string): JsonObject {
  return JSON.parse(unescapeJson(text)) as JsonObject;
}
