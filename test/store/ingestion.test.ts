// Ingestion counts against a real Postgres: two servers add up, counts wait while the table is
// away, and old hours are deleted.

import { beforeEach, expect, test } from "vitest";
import { createUuid, type ProjectId } from "../../src/base/ids.ts";
import { createLogger } from "../../src/base/logger.ts";
import { createIngestion, type IngestionCall } from "../../src/tracing/ingestion/ingestion.ts";
import { givenTestDatabase } from "../support/database.ts";
import { createTestProject } from "../support/project.ts";

const testDatabase = givenTestDatabase();
const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 0, 31, 12, 30);
let projectId: ProjectId;

beforeEach(async () => {
  projectId = await createTestProject(testDatabase.database);
});

/** Ingestion of one server, which writes at `stop` alone. */
function aServer(now: () => number = () => startMs) {
  return createIngestion({
    database: testDatabase.database,
    maskOf: () => Promise.resolve(undefined),
    logger: createLogger("silent"),
    flushMs: 2 ** 31 - 1,
    now,
  });
}

function aCall(parts: Partial<IngestionCall> = {}): IngestionCall {
  return {
    projectId,
    actor: { type: "key", id: "a key's id", name: "a key" },
    rpc: "waggle.v1.EventService/CreateEvent",
    reason: "OK",
    stored: 1,
    rejected: 0,
    message: undefined,
    ...parts,
  };
}

async function sumsOf(now?: () => number, hours?: number) {
  const report = await aServer(now).report(projectId, hours);
  return report.groups.map(({ calls, storedEvents, message }) => [calls, storedEvents, message]);
}

test("Counts of two servers add up, and the later refusal stays.", async () => {
  const [one, two] = [aServer(), aServer(() => startMs + 1_000)];
  one.note(aCall({ reason: "INVALID_ARGUMENT", stored: 0, message: "early" }));
  two.note(aCall({ reason: "INVALID_ARGUMENT", stored: 0, message: "late \0" }));
  two.note(aCall({ reason: "INVALID_ARGUMENT", stored: 0 }));
  await Promise.all([one.stop(), two.stop()]);
  expect(await sumsOf()).toEqual([[3, 0, expect.stringMatching(/^(early|late \ufffd)$/)]]);
});

test("Counts wait in memory while they cannot be written.", async () => {
  const sql = testDatabase.database.sql();
  const server = aServer();
  await sql`alter table ingestion_counts rename to away`;
  server.note(aCall());
  await server.stop();
  await sql`alter table away rename to ingestion_counts`;
  expect(await sumsOf()).toEqual([]);
  server.note(aCall());
  await server.stop();
  expect(await sumsOf()).toEqual([[2, 2, null]]);
});

test("More callers than one statement writes are all written.", async () => {
  const server = aServer();
  for (let index = 0; index < 2_500; index++) {
    server.note(aCall({ actor: { type: "key", id: createUuid(), name: "a key" } }));
  }
  await server.stop();
  const report = await aServer().report(projectId);
  expect([report.groups.length, report.groupsTotal]).toEqual([1_000, 2_500]);
  expect(report.hours.map(({ storedEvents }) => storedEvents)).toEqual([2_500]);
});

test("Hours are kept for 30 days.", async () => {
  const first = aServer();
  first.note(aCall());
  await first.stop();
  const last = () => startMs + 719 * hourMs;
  expect(await sumsOf(last, 720)).toEqual([[1, 1, null]]);

  const later = () => startMs + 721 * hourMs;
  const server = aServer(later);
  // One write deletes a thousand rows at most; the test before this one left 2,500.
  for (const _ of [1, 2, 3, 4]) {
    server.note(aCall({ reason: "CANCELED", stored: 0 }));
    await server.stop();
  }
  const [row] = await testDatabase.database.sql()<{ count: number }[]>`
    select count(*)::int from ingestion_counts where project_id = ${projectId}`;
  expect(row?.count).toBe(1);
});
