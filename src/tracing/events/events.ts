// Events: create, batch, enrich, update, get and delete, with their rules.
// Source: docs/spec.md, "Logging"; docs/decisions.md, 4, 5, 6, 7, 8.1, 9.

import { refuse, ServiceError } from "../../base/errors.ts";
import { isRecordId, type ProjectId } from "../../base/ids.ts";
import type { Database, Sql } from "../../postgres/database.ts";
import { applyTotals } from "../sessions/totals-change.ts";
import { createBatchWriter, joinFault, placeInSessions } from "./batch.ts";
import { isSession, type StoredEvent } from "./event.ts";
import { countHeld } from "./held-event.ts";
import { lockHeld } from "./merge-store.ts";
import { type EventInput, parseEvent, parseUpdate } from "./parse-event.ts";
import type { Origin, Recorder } from "./record.ts";
import { createReadContext, readEvent, type Reading } from "./sized-read.ts";
import { deleteEvent } from "./store.ts";

export type Events = ReturnType<typeof createEvents>;

/** Returns the events service. Every method acts on the caller's project only. */
export function createEvents(database: Database, recorder: Recorder) {
  /** Stores one event and returns its id. Faults begin with `field`, the event's in the request. */
  async function create(
    projectId: ProjectId,
    input: EventInput,
    { field = "event", ...origin }: Origin & { readonly field?: string } = {},
  ): Promise<string> {
    const [write] = await placeInSessions(database, projectId, [parseEvent(input, `${field}.`)]);
    if (write === undefined) throw new Error("one event in, none out");
    const cause = (await recorder.record(projectId, [write], origin)).get(0);
    if (cause !== undefined) throw new ServiceError("INVALID_ARGUMENT", joinFault(field, cause));
    return write.event_id;
  }

  /** Merges an update. If its event does not exist, the update waits for it. */
  async function enrich(
    projectId: ProjectId,
    eventId: string,
    input: EventInput,
    origin?: Origin,
  ): Promise<void> {
    await recorder.enrich(projectId, parseUpdate(eventId, input), origin);
  }

  /** Merges an update into an event. Throws NOT_FOUND if the project has no such event. */
  async function update(
    projectId: ProjectId,
    eventId: string,
    input: EventInput,
    origin?: Origin,
  ): Promise<void> {
    // A malformed id counts as absent.
    const isThere =
      isRecordId(eventId) &&
      (await recorder.update(projectId, parseUpdate(eventId, input), origin));
    if (!isThere) throw new ServiceError("NOT_FOUND", "no such event");
  }

  /** Returns an event. Throws NOT_FOUND if the project has no such event. */
  async function get(
    projectId: ProjectId,
    eventId: string,
    reading?: Reading,
  ): Promise<StoredEvent> {
    const event = await readEvent(createReadContext(database, projectId, reading), eventId);
    if (event === undefined) throw new ServiceError("NOT_FOUND", "no such event");
    // Every column is selected, so the event is complete.
    return event as StoredEvent;
  }

  /** Deletes an event. Throws NOT_FOUND if it does not exist, INVALID_ARGUMENT for a session. */
  async function remove(projectId: ProjectId, eventId: string): Promise<void> {
    const deleteLocked = async (sql: Sql): Promise<void> => {
      const [held] = await lockHeld(sql, projectId, [eventId]);
      if (held === undefined || held.event_type === "pending") {
        throw new ServiceError("NOT_FOUND", "no such event");
      }
      const before = countHeld(held, held.event_type);
      if (isSession(before)) {
        refuse("event_id", "is a session; DELETE /v1/sessions/{session_id} deletes it");
      }
      await deleteEvent(sql, projectId, eventId);
      await applyTotals(sql, [{ projectId, before, after: undefined }]);
    };
    await database.transaction(deleteLocked, { owner: projectId });
  }

  const createBatch = createBatchWriter(database, recorder);
  return { create, createBatch, enrich, update, get, delete: remove };
}
