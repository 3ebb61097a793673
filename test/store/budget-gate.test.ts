// Budgets that are changed while a call runs. Source: docs/budgets.md.

import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { ProjectScope } from "../../src/access/scope.ts";
import { createUuid } from "../../src/base/ids.ts";
import { createScopes, findProject } from "../../src/controlplane/scopes/scopes.ts";
import { createBudgetGate } from "../../src/generation/budgets/gate.ts";
import * as store from "../../src/generation/budgets/store.ts";
import { createTestDatabase, openTestClusters, type TestDatabase } from "../support/database.ts";
import { patience } from "../support/patience.ts";
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
