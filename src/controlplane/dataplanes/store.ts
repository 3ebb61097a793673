// SQL of data planes. The caller checks that the organization is active.

import type { PageOptions, Position } from "../../base/pages.ts";
import type { Sql } from "../../postgres/database.ts";
import { isAfter, selectCreatedAtUs } from "../../postgres/keyset.ts";

export type DataplaneRow = Position & {
  readonly name: string;
  readonly clusterId: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
};

export async function insertDataplane(
  sql: Sql,
  row: Pick<DataplaneRow, "id" | "orgId" | "name" | "clusterId">,
): Promise<void> {
  await sql`
    insert into dataplanes (dataplane_id, org_id, name, cluster_id)
    values (${row.id}, ${row.orgId}, ${row.name}, ${row.clusterId})`;
}

const columns = (sql: Sql) => sql`
  dataplane_id as id,
  name,
  cluster_id as "clusterId",
  created_at as "createdAt",
  ${selectCreatedAtUs(sql, "created_at")},
  updated_at as "updatedAt",
  org_id as "orgId"`;

export async function findDataplane(sql: Sql, id: string): Promise<DataplaneRow | undefined> {
  const [row] = await sql<DataplaneRow[]>`
    select ${columns(sql)} from dataplanes where dataplane_id = ${id} and archived_at is null`;
  return row;
}

/** Same as findDataplane, and locks the row against other writers until the transaction ends. */
export async function lockDataplane(sql: Sql, id: string): Promise<DataplaneRow | undefined> {
  const [row] = await sql<DataplaneRow[]>`
    select ${columns(sql)} from dataplanes
    where dataplane_id = ${id} and archived_at is null
    for no key update`;
  return row;
}

export async function renameDataplane(sql: Sql, id: string, name: string): Promise<void> {
  await sql`update dataplanes set name = ${name}, updated_at = now() where dataplane_id = ${id}`;
}

/** Returns at most two of the clusters of an organization's active data planes. */
export async function findClusters(sql: Sql, orgId: string): Promise<string[]> {
  const rows = await sql<{ clusterId: string }[]>`
    select distinct cluster_id as "clusterId"
    from dataplanes
    where org_id = ${orgId} and archived_at is null
    limit 2`;
  return rows.map(({ clusterId }) => clusterId);
}

/** Returns an organization's active data planes, oldest first, up to one more than the limit. */
export async function listDataplanes(
  sql: Sql,
  orgId: string,
  { limit, after }: PageOptions,
): Promise<DataplaneRow[]> {
  return sql<DataplaneRow[]>`
    select ${columns(sql)}
    from dataplanes
    where org_id = ${orgId}
      and archived_at is null
      and ${isAfter(sql, ["created_at", "dataplane_id"], after)}
    order by created_at, dataplane_id
    limit ${limit + 1}`;
}
