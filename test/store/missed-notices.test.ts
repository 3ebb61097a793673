// Notifications of budgets that were lost at the end of a period. Source: docs/budgets.md.

import { afterAll, beforeAll, expect, test } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import { createScopes } from "../../src/controlplane/scopes/scopes.ts";
import { tellMissed } from "../../src/generation/budgets/missed-notices.ts";
import * as store from "../../src/generation/budgets/store.ts";
import type { SpendTeller } from "../../src/generation/budgets/tell-spend.ts";
import { createTestDatabase, openTestClusters, type TestDatabase } from "../support/database.ts";
import { givenAProject } from "../support/project.ts";

let testDatabase: TestDatabase;
let clusters: ReturnType<typeof openTestClusters>;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  clusters = openTestClusters(testDatabase.database);
});
afterAll(async () => {
  await clusters.close();
  await testDatabase.drop();
});

const month = { period: "MONTH", amount: 1, isActive: true, createdBy: "test" } as const;
const november = { periodStart: new Date("2026-11-01T00:00:00Z") };

/** Adds a budget that is spent in November, last changed at a time. */
async function givenASpentBudget(changedAt: string | null): Promise<string> {
  const { database } = testDatabase;
  const { projectId } = await givenAProject(database);
  const id = createUuid();
  const sql = database.sql();
  await store.insertBudget(sql, { ...month, id, projectId, keyId: null });
  await sql`update budgets set updated_at = ${changedAt} where budget_id = ${id}`;
  await store.addSpend(sql, { projectId, budgetId: id, ...november }, 1);
  return id;
}

/** Returns which budgets a look at a time tells of, with the time of the spend. */
async function toldAt(time: string): Promise<Readonly<Record<string, string>>> {
  const { database } = testDatabase;
  const told: Record<string, string> = {};
  const teller: SpendTeller = {
    tell(_project, { id }, _spend, atMs) {
      told[id] = new Date(atMs).toISOString();
      return Promise.resolve();
    },
  };
  const scopes = createScopes(database);
  for (const clusterId of clusters.ids()) {
    const look = { clusterId, nowMs: Date.parse(time), isStopped: () => false };
    await tellMissed({ database, clusters, scopes, teller }, look);
  }
  return told;
}

test("what was lost at the end of a period is told in the hour after it", async () => {
  const lost = await givenASpentBudget(null);
  const changed = await givenASpentBudget("2026-12-01T00:05:00Z");

  expect(await toldAt("2026-12-01T00:10:00Z")).toEqual({ [lost]: "2026-11-30T23:10:00.000Z" });
  expect(await toldAt("2026-12-01T01:00:01Z")).toEqual({});
  expect(await toldAt("2026-11-30T23:59:00Z")).toEqual({
    [lost]: "2026-11-30T23:59:00.000Z",
    [changed]: "2026-11-30T23:59:00.000Z",
  });
});
