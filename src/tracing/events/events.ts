// Events: create, batch, enrich, update, get, delete, and their rules. Called by handlers.ts and
// the handlers of older clients' calls. Source: docs/spec.md, "Logging"; docs/decisions.md, 4 to 9.

import { ServiceError } from "../../base/errors.ts";
import { isRecordId, type ProjectId } from "../../base/ids.ts";
import type { Database } from "../../postgres/database.ts";
import { applyTotals } from "../sessions/totals-change.ts";
import { createBatchWriter, idClash, placeInSessions } from "./batch.ts";
import type { StoredEvent } from "./event.ts";
import { type EventInput, parseEvent, parseUpdate } from "./parse-event.ts";
import type { Recorder } from "./record.ts";
import { deleteEvent, findEvent, lockEvents } from "./store.ts";

export type Events = ReturnType<typeof createEvents>;

/** Returns the events service. Every method acts on one project only, the caller's. */
export function createEvents(database: Database, recorder: Recorder) {
  /** Stores one event and returns its id. */
  async function create(projectId: ProjectId, input: EventInput): Promise<string> {
    const [write] = await placeInSessions(database, projectId, [parseEvent(input, "event.")]);
    if (write === undefined) throw new Error("one event in, none out");
    const refused = await recorder.record(projectId, [write]);
    if (refused.size > 0) throw new ServiceError("INVALID_ARGUMENT", `event.${idClash}`);
    return write.event_id;
  }

  /** Merges an update; one whose event is not there yet waits for it. */
  async function enrich(projectId: ProjectId, eventId: string, input: EventInput): Promise<void> {
    await recorder.enrich(projectId, parseUpdate(eventId, input));
  }

  /** Merges an update into an event. Throws NOT_FOUND when the project has no such event. */
  async function update(projectId: ProjectId, eventId: string, input: EventInput): Promise<void> {
    // What can be no id is an absent one.
    const isThere =
      isRecordId(eventId) && (await recorder.update(projectId, parseUpdate(eventId, input)));
    if (!isThere) throw new ServiceError("NOT_FOUND", "no such event");
  }

  /** Returns an event. Throws NOT_FOUND when the project has no such event. */
  async function get(projectId: ProjectId, eventId: string): Promise<StoredEvent> {
    const event = await findEvent(database.sql(), projectId, eventId);
    if (event === undefined) throw new ServiceError("NOT_FOUND", "no such event");
    return event;
  }

  /** Deletes an event. Throws NOT_FOUND when there is none, INVALID_ARGUMENT for a session. */
  async function remove(projectId: ProjectId, eventId: string): Promise<void> {
    await database.transaction(async (sql) => {
      const [held] = await lockEvents(sql, projectId, [eventId]);
      if (held === undefined || "pending" in held) {
        throw new ServiceError("NOT_FOUND", "no such event");
      }
      if (held.event.event_type === "session") {
        const message = "event_id: is a session; DELETE /v1/sessions/{session_id} deletes it";
        throw new ServiceError("INVALID_ARGUMENT", message);
      }
      await deleteEvent(sql, projectId, eventId);
      await applyTotals(sql, [{ projectId, before: held.event, after: undefined }]);
    });
  }

  const createBatch = createBatchWriter(database, recorder);
  return { create, createBatch, enrich, update, get, delete: remove };
}
