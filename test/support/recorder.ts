// A recorder of events on a database of its own, with the services that write through it.

import { afterAll } from "vitest";
import { createEvents } from "../../src/tracing/events/events.ts";
import { createRecorder, type RecorderOptions } from "../../src/tracing/events/record.ts";
import { createFieldCatalogue } from "../../src/tracing/fields/fields.ts";
import { createSessions } from "../../src/tracing/sessions/sessions.ts";
import { createTestDatabase } from "./database.ts";
import { createTestProject } from "./project.ts";

export async function givenARecorder(options: Partial<RecorderOptions> = {}) {
  const own = await createTestDatabase();
  afterAll(() => own.drop());
  const { database } = own;
  const fields = createFieldCatalogue({ database });
  const recorder = createRecorder({ database, fields, ...options });
  afterAll(() => recorder.drain());
  const events = createEvents(database, recorder);
  const sessions = createSessions({ database, recorder, fields });
  const projectId = await createTestProject(database);
  return { database, fields, recorder, events, sessions, projectId };
}
