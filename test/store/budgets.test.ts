// Budgets that are changed while a call runs, and notifications that were lost at the end of a
// period. Source: docs/budgets.md.

import { expect, test, vi } from "vitest";
import type { ProjectScope } from "../../src/access/scope.ts";
import { createUuid } from "../../src/base/ids.ts";
import { createScopes, findProject } from "../../src/controlplane/scopes/scopes.ts";
import { createBudgetGate } from "../../src/generation/budgets/gate.ts";
import { tellMissed } from "../../src/generation/budgets/missed-notices.ts";
import * as store from "../../src/generation/budgets/store.ts";
import type { SpendTeller } from "../../src/generation/budgets/tell-spend.ts";
import { givenStarted } from "../support/given.ts";
import { givenTestDatabase, openTestClusters } from "../support/database.ts";
import { patience } from "../support/patience.ts";
import { givenAProject } from "../support/project.ts";

const testDatabase = givenTestDatabase();
const clusters = givenStarted(
  () => openTestClusters(testDatabase.database),
  (one) => one.close(),
);

test("a call tells of its budgets as they are at its end", async () => {
  const { database } = testDatabase;
  const { projectId } = await givenAProject(database);
  const project = (await findProject(createScopes(database), projectId)) as ProjectScope;
  const sql = database.sql();
  const keyId = createUuid();
  const ofProject = { projectId, keyId: null, isActive: true, createdBy: "test" } as const;
  const raised = { ...ofProject, id: createUuid(), period: "DAY", amount: 1 } as const;
  const ended = { ...raised, id: createUuid(), keyId } as const;
  const lowered = { ...ofProject, id: createUuid(), period: "MONTH", amount: 10 } as const;
  for (const budget of [raised, ended, lowered]) await store.insertBudget(sql, budget);
  const told: Record<string, unknown> = {};
  const gate = createBudgetGate({
    clusters,
    logger: { warn: vi.fn() },
    memory: {
      get: async () => (await store.listBudgets(sql, projectId)).filter((one) => one.isActive),
    },
    teller: {
      tell(_project, { id, amount }, { cost }) {
        told[id] = { amount, cost };
        return Promise.resolve();
      },
    },
  });
  const charge = await gate.admit(project, keyId);
  await store.updateBudget(sql, { ...raised, amount: 10 });
  await store.updateBudget(sql, { ...ended, isActive: false });
  await store.updateBudget(sql, { ...lowered, amount: 1 });

  await charge?.commit(() => Promise.resolve(), 1);

  await expect.poll(() => Object.keys(told), patience).toHaveLength(2);
  expect(told).toEqual({
    [raised.id]: { amount: 10, cost: 1 },
    [lowered.id]: { amount: 1, cost: 1 },
  });
});

// Long past, so that no other test spends in it.
const month = { period: "MONTH", amount: 1, isActive: true, createdBy: "test" } as const;
const november = { periodStart: new Date("2020-11-01T00:00:00Z") };

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
  const changed = await givenASpentBudget("2020-12-01T00:05:00Z");

  expect(await toldAt("2020-12-01T00:10:00Z")).toEqual({ [lost]: "2020-11-30T23:10:00.000Z" });
  expect(await toldAt("2020-12-01T01:00:01Z")).toEqual({});
  expect(await toldAt("2020-11-30T23:59:00Z")).toEqual({
    [lost]: "2020-11-30T23:59:00.000Z",
    [changed]: "2020-11-30T23:59:00.000Z",
  });
});
