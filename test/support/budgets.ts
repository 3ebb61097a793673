// Budgets of a tenant's project, by SQL.

import { createUuid } from "../../src/base/ids.ts";
import type { Database } from "../../src/postgres/database.ts";
import { putTargets } from "../../src/notifications/store.ts";
import type { Tenant } from "./tenants.ts";

/**
 * Adds a budget of a month for an unknown key to a tenant's project, of which an address hears;
 * returns its id.
 */
export async function addBudget(database: Database, { projectId }: Tenant): Promise<string> {
  const id = createUuid();
  await database.sql()`
    insert into budgets (budget_id, project_id, key_id, amount, period, is_active, created_by)
    values (${id}, ${projectId}, ${createUuid()}, 1, 'MONTH', true, 'test')`;
  const critical = { channel: "EMAIL", emails: ["ops@example.com"], userIds: [] } as const;
  await putTargets(database.sql(), { projectId, ownerId: id, targets: { critical }, seal: null });
  return id;
}
