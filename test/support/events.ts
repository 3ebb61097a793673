// Inserts events into a database by SQL, without the service, so that readers are tested alone.

import { createUuid, type ProjectId } from "../../src/base/ids.ts";
import type { Database } from "../../src/postgres/database.ts";
import type { StoredEvent } from "../../src/tracing/events/event.ts";
import { escapeJson } from "../../src/tracing/events/postgres-text.ts";
import type { FieldCatalogue } from "../../src/tracing/fields/fields.ts";

/** Returns an event with defaults for all fields that a test does not set. */
export function anEvent(fields: Partial<StoredEvent> = {}): StoredEvent {
  return {
    event_id: createUuid(),
    session_id: "session-1",
    event_type: "tool",
    event_name: "search",
    source: "test",
    parent_id: null,
    children_ids: [],
    error: null,
    start_time: 1_700_000_000_000,
    end_time: null,
    duration: null,
    config: {},
    inputs: {},
    outputs: {},
    metadata: {},
    metrics: {},
    feedback: {},
    user_properties: {},
    cost_estimate: null,
    ...fields,
  };
}

export function aProjectId(): ProjectId {
  return createUuid() as ProjectId;
}

/** Inserts events and, if a catalogue is given, records their fields in it. */
export async function insertEvents(
  database: Database,
  projectId: string,
  events: readonly StoredEvent[],
  catalogue?: FieldCatalogue,
): Promise<void> {
  const rows = events.map(({ start_time, end_time, duration, ...rest }) => ({
    ...rest,
    project_id: projectId,
    start_time_us: Math.round(start_time * 1000),
    end_time_us: end_time === null ? null : Math.round(end_time * 1000),
    duration_ms: duration,
  }));
  const sightings = events.flatMap((event) => catalogue?.unseen(projectId, event) ?? []);
  await database.transaction(async (sql) => {
    await sql`
      insert into events (
        project_id, event_id, session_id, event_type, event_name, source, parent_id, children_ids,
        error, start_time_us, end_time_us, duration_ms,
        config, inputs, outputs, metadata, metrics, feedback, user_properties, cost_estimate)
      select
        project_id, event_id, session_id, event_type, event_name, source, parent_id, children_ids,
        error, start_time_us, end_time_us, duration_ms,
        config, inputs, outputs, metadata, metrics, feedback, user_properties, cost_estimate
      from jsonb_populate_recordset(
        null::events, ${escapeJson(JSON.stringify(rows))}::text::jsonb)`;
    await catalogue?.record(sql, projectId, sightings);
  });
  catalogue?.confirm(sightings);
}

/** Inserts an update that waits for its event and is invisible to readers. */
export async function insertPending(
  database: Database,
  projectId: string,
  event: StoredEvent,
): Promise<void> {
  await insertEvents(database, projectId, [event]);
  await database.sql()`
    update events set event_type = 'pending'
    where project_id = ${projectId} and event_id = ${event.event_id}`;
}
