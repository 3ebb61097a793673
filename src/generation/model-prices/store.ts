// SQL of model prices.

import type { ProjectId } from "../../base/ids.ts";
import type { Fragment, Sql } from "../../postgres/database.ts";
import type { Owner, OwnerLevel } from "../connections/owner/owner.ts";
import { isOf, ownerValues, selectOwner } from "../connections/owner/store.ts";
import type { OwnPrice, Rates } from "../prices/own-prices.ts";

export type ModelPriceRow = OwnPrice & {
  readonly id: string;
  readonly level: OwnerLevel;
  readonly scopeId: string;
  readonly updatedAt: Date;
  readonly updatedBy: string;
};

function selectPrices(sql: Sql): Fragment {
  return sql`
    select
      price_id as id,
      name,
      rates,
      ${selectOwner(sql)},
      updated_at as "updatedAt",
      updated_by as "updatedBy"
    from model_prices`;
}

export async function insertPrice(
  sql: Sql,
  row: Pick<ModelPriceRow, "id" | "name" | "rates" | "updatedBy"> & { readonly owner: Owner },
): Promise<void> {
  await sql`
    insert into model_prices (price_id, org_id, workspace_id, project_id, name, rates, updated_by)
    values (
      ${row.id}, ${ownerValues(sql, row.owner)},
      ${row.name}, ${sql.json(row.rates)}, ${row.updatedBy}
    )`;
}

export async function updatePrice(
  sql: Sql,
  { id, rates, updatedBy }: { id: string; rates: Rates; updatedBy: string },
): Promise<void> {
  await sql`
    update model_prices
    set rates = ${sql.json(rates)}, updated_by = ${updatedBy}, updated_at = now()
    where price_id = ${id}`;
}

export async function deletePrice(sql: Sql, id: string): Promise<void> {
  await sql`delete from model_prices where price_id = ${id}`;
}

export async function findPrice(
  sql: Sql,
  owner: Owner,
  name: string,
): Promise<ModelPriceRow | undefined> {
  const [row] = await sql<ModelPriceRow[]>`
    ${selectPrices(sql)} where name = ${name} and ${isOf(sql, owner)}`;
  return row;
}

/** Returns up to `limit` prices of an owner, by name in byte order. */
export async function listPrices(
  sql: Sql,
  owner: Owner,
  { limit, afterName }: { readonly limit: number; readonly afterName: string },
): Promise<readonly ModelPriceRow[]> {
  return sql<ModelPriceRow[]>`
    ${selectPrices(sql)}
    where ${isOf(sql, owner)} and name collate "C" > ${afterName}
    order by name collate "C"
    limit ${limit}`;
}

export type UsablePrice = OwnPrice & { readonly orgId: string };

/**
 * Returns the prices that hold in a project, with its organization: its own before its workspace's
 * before its organization's.
 */
export async function listUsable(sql: Sql, projectId: ProjectId): Promise<readonly UsablePrice[]> {
  return sql<UsablePrice[]>`
    select price.name, price.rates, dataplane.org_id as "orgId"
    from projects as project
    join workspaces as workspace using (workspace_id)
    join dataplanes as dataplane using (dataplane_id)
    join model_prices as price
      on price.project_id = project.project_id
      or price.workspace_id = workspace.workspace_id
      or price.org_id = dataplane.org_id
    where project.project_id = ${projectId}
    order by price.project_id nulls last, price.workspace_id nulls last, price.name collate "C"`;
}
