// The plan that Postgres makes for the events of a run, whatever it knows about them.

import { expect, test } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import { runEventParts } from "../../src/tracing/run-events/store.ts";
import { givenTestDatabase } from "../support/database.ts";

const testDatabase = givenTestDatabase();

test("events of a run are found session by session: none is compared with each", async () => {
  const sessions = { runId: "run", sessionIds: ["a", "b"] };
  const page = { limit: 1_000, bytesMax: 1_000 };

  const plan = await testDatabase.database.transaction(async (sql) => {
    // No index leads to a session, so that a join would be cheaper.
    await sql`set local enable_indexscan = off`;
    await sql`set local enable_bitmapscan = off`;
    const statement = runEventParts(sql, createUuid(), sessions, page);
    const rows = await sql<{ "QUERY PLAN": string }[]>`explain ${statement as never}`;
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  });

  expect(plan).toMatch(/Filter: .*session_id = /);
  expect(plan).not.toMatch(/(Join Filter|Cond): .*session_id/);
});
