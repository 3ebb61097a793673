// Budgets of a tenant's project, by SQL.

import { createUuid } from "../../src/base/ids.ts";
import type { Database } from "../../src/postgres/database.ts";
import type { Tenant } from "./tenants.ts";

/** Adds a budget of a month for an unknown key to a tenant's project; returns its id. */
export async function addBudget(database: Database, { projectId }: Tenant): Promise<string> {
  const id = createUuid();
  await database.sql()`
    insert into budgets (budget_id, project_id, key_id, amount, period, is_active, created_by)
    values (${id}, ${projectId}, ${createUuid()}, 1, 'MONTH', true, 'test')`;
  return id;
}
