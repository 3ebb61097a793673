// Writes of events, and what a database holds of a project after them.

import { createUuid, type ProjectId } from "../../src/base/ids.ts";
import type { Database } from "../../src/postgres/database.ts";
import type { EventWrite } from "../../src/tracing/events/event.ts";

/** Returns the write of an event with defaults for what a test does not set. */
export function aWrite(overrides: Partial<EventWrite> = {}): EventWrite {
  return {
    event_id: createUuid(),
    session_id: createUuid(),
    event_type: "tool",
    inputs: {},
    start_time: 1_700_000_000_000,
    end_time: 1_700_000_000_250,
    ...overrides,
  };
}

/** Returns the events and the totals of sessions that are stored of a project, without its id. */
export async function readStored(database: Database, project: ProjectId) {
  const sql = database.sql();
  const stored = await sql`
    select to_jsonb(events) - 'project_id' as event
    from events
    where project_id = ${project}
    order by event_id`;
  const totals = await sql`
    select to_jsonb(session_totals) - 'project_id' as totals
    from session_totals
    where project_id = ${project}
    order by session_id`;
  return [...stored, ...totals];
}

/** Returns the ids of the events of a project in the evaluation queue, in order. */
export async function readQueued(database: Database, project: ProjectId) {
  const rows = await database.sql()<{ event_ids: string[] }[]>`
    select event_ids
    from evaluation_queue
    where project_id = ${project}`;
  return rows.flatMap((row) => row.event_ids).toSorted();
}
