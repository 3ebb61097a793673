// The plan that Postgres makes for the summaries of a chart, whatever it knows about the events.

import { afterAll, beforeAll, expect, test } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import type { Read } from "../../src/postgres/database.ts";
import { listSummaries } from "../../src/tracing/charts/summaries/store.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

let testDatabase: TestDatabase;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

type Statement = Parameters<Read>[0];

/** Explains a statement in place of running it, where no index leads to a stretch. */
function explain(statement: Statement): Promise<string> {
  return testDatabase.database.transaction(async (sql) => {
    await sql`set local enable_indexscan = off`;
    await sql`set local enable_indexonlyscan = off`;
    await sql`set local enable_bitmapscan = off`;
    const rows = await sql<{ "QUERY PLAN": string }[]>`explain ${statement(sql) as never}`;
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  });
}

test("each stretch reads its own events: none is compared with other stretches", async () => {
  const hourUs = 3_600_000_000;
  const stretches = Array.from({ length: 168 }, (_, hour) => ({
    bucket: hour,
    fromUs: hour * hourUs,
    toUs: (hour + 1) * hourUs,
    hour,
    isWhole: true,
    version: null,
  }));
  const sources = [{ source: { kind: "duration" } as const, keeps: ["sum"] as const }];
  const plan = { key: "", split: undefined, sources, sourceOf: [0] };
  const query = { projectId: createUuid(), conditions: [], fromUs: 0, toUs: 168 * hourUs };
  let text = "";
  const read = async (statement: Statement) => {
    text = await explain(statement);
    return [];
  };

  await listSummaries(read as Read, query, { plan, stretches, cellsMax: 1_000 });

  expect(text).toMatch(/start_time_us >= due_?\d*\.from_us/);
  expect(text).not.toMatch(/Join Filter: .*start_time_us/);
});
