// What Postgres reads for a write, by its own count, where its statistics do not know the project.

import { expect, test } from "vitest";
import { createUuid, type ProjectId } from "../../src/base/ids.ts";
import { type Database, openDatabase } from "../../src/postgres/database.ts";
import { createEvents } from "../../src/tracing/events/events.ts";
import { createRecorder } from "../../src/tracing/events/record.ts";
import { createFieldCatalogue } from "../../src/tracing/fields/fields.ts";
import { createTestDatabase } from "../support/database.ts";

/** Entries that were read in indexes of events. Postgres counts them when a connection closes. */
async function countReads(database: Database): Promise<number> {
  const [row] = await database.sql()<{ reads: number }[]>`
    select sum(idx_tup_read)::integer as reads
    from pg_stat_user_indexes
    where relname like 'events\\_%'`;
  return row?.reads ?? 0;
}

/** Returns the id of a project in the first partition: statistics are kept for each. */
async function createIdOfPartition(database: Database): Promise<ProjectId> {
  for (;;) {
    const projectId = createUuid() as ProjectId;
    const [row] = await database.sql()`
      select satisfies_hash_partition('events'::regclass, 8, 0, ${projectId}::uuid) as fits`;
    if (row?.["fits"] === true) return projectId;
  }
}

async function write(url: string, projectId: ProjectId): Promise<void> {
  const database = openDatabase({ url, connectionsMax: 2 });
  const recorder = createRecorder({ database, fields: createFieldCatalogue({ database }) });
  const events = createEvents(database, recorder);
  for (let batch = 0; batch < 8; batch += 1) {
    const items = Array.from({ length: 500 }, (_, index) => ({
      index,
      input: {
        event_id: `${batch}-${index}`,
        // Some are in sessions that other batches have made, some in none.
        session_id: index % 5 === 0 ? undefined : `session-${index % 100}`,
        event_type: "tool",
        inputs: {},
        start_time: 1_700_000_000_000 + batch,
      },
    }));
    await events.createBatch(projectId, items);
    if (batch % 4 === 3) await events.createBatch(projectId, items);
  }
  await database.close();
}

test("writes of a project that is new read what they write, not all of the project", async () => {
  const testDatabase = await createTestDatabase();
  const { url, database } = testDatabase;
  const known = await createIdOfPartition(database);
  const fresh = await createIdOfPartition(database);
  await write(url, known);
  await database.sql()`analyze events`;
  const before = await countReads(database);

  await write(url, fresh);

  const events = 8 * 500 + 2 * 500;
  const reads = await countReads(database);
  await testDatabase.drop();
  expect(reads - before).toBeLessThan(20 * events);
});
