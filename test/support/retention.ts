// Deletions of old sessions, for tests.

import { createUuid } from "../../src/base/ids.ts";
import { createOutbox } from "../../src/outbox/outbox.ts";
import type { Database } from "../../src/postgres/database.ts";
import { createDeletion } from "../../src/tracing/retention/deletion.ts";
import type { FileStore } from "../../src/tracing/retention/file-store.ts";
import { putRetention } from "../../src/tracing/retention/store.ts";
import { createTracing } from "../../src/tracing/tracing.ts";
import { openTestClusters } from "./database.ts";
import { scopeOfProject } from "./keys.ts";
import { givenAProject } from "./project.ts";

const dayMs = 86_400_000;

export type GivenSessions = {
  readonly files: FileStore;
  /** Ids; each session gets an event. */
  readonly sessions?: readonly string[] | undefined;
};

/** Returns a deletion of the sessions of a new project, all older than its 30 days. */
export async function givenADeletion(
  database: Database,
  { files, sessions = ["a", "b"] }: GivenSessions,
) {
  const local = await givenAProject(database);
  const project = { ...scopeOfProject(local), ...local, clusterId: "default" };
  const clusters = openTestClusters(database);
  const { of: tracingOf } = createTracing({ clusters });
  const deletion = createDeletion({
    database,
    clusters,
    tracingOf,
    outbox: createOutbox(database),
    files,
    findProject: () => Promise.resolve(project),
  });
  const { projectId, orgId } = project;
  await putRetention(database.sql(), projectId, { days: 30, updatedBy: "test" });
  const input = {
    projectId,
    orgId,
    projectName: "p",
    runId: createUuid(),
    days: 30,
    actor: "test",
    cutoffMs: Date.now() - 30 * dayMs,
  };
  const { events } = tracingOf(project);
  for (const session of sessions) {
    await events.create(projectId, {
      event_id: `${session}1`,
      session_id: session,
      event_type: "tool",
      source: "test",
      inputs: {},
      start_time: Date.now() - 40 * dayMs,
    });
  }
  const step = (runId = input.runId) =>
    deletion.step({ ...input, runId }, new AbortController().signal);
  const ids = async (): Promise<string[]> => {
    const rows = await database.sql()<{ id: string }[]>`
      select event_id as id from events where project_id = ${projectId} order by event_id`;
    return rows.map(({ id }) => id);
  };
  const errors = async (): Promise<(string | null)[]> => {
    const rows = await database.sql()<{ error: string | null }[]>`
      select error from retention_runs where project_id = ${projectId} order by created_at`;
    return rows.map(({ error }) => error);
  };
  return { step, ids, errors, events, projectId };
}
