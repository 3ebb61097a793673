// SQL of rows with a name that an organization, workspace or project owns, such as aliases.

import type { Fragment, Sql } from "../../../postgres/database.ts";
import type { Owner, OwnerLevel } from "./owner.ts";
import { isOf, ownerValues, selectOwner } from "./store.ts";

/** A row with its value: the field that a change replaces as a whole. */
export type NamedRow<Value> = Value & {
  readonly id: string;
  readonly name: string;
  readonly level: OwnerLevel;
  readonly scopeId: string;
  readonly updatedAt: Date;
  readonly updatedBy: string;
};

export type NamedTable<Value> = {
  readonly table: "model_aliases" | "model_prices";
  readonly idColumn: string;
  /** Column of the value, and its field. */
  readonly valueColumn: string;
  /** Returns the value as its column has it. */
  readonly toColumn: (sql: Sql, value: Value) => Fragment;
};

type WrittenRow<Value> = {
  readonly id: string;
  readonly value: Value;
  readonly updatedBy: string;
};

function selectRows<Value>(sql: Sql, { table, idColumn, valueColumn }: NamedTable<Value>) {
  return sql`
    select
      ${sql(idColumn)} as id,
      name,
      ${sql(valueColumn)},
      ${selectOwner(sql)},
      updated_at as "updatedAt",
      updated_by as "updatedBy"
    from ${sql(table)}`;
}

export async function insertRow<Value>(
  sql: Sql,
  { table, idColumn, valueColumn, toColumn }: NamedTable<Value>,
  row: WrittenRow<Value> & { readonly owner: Owner; readonly name: string },
): Promise<void> {
  await sql`
    insert into ${sql(table)} (
      ${sql(idColumn)}, org_id, workspace_id, project_id, name, ${sql(valueColumn)}, updated_by
    )
    values (
      ${row.id}, ${ownerValues(sql, row.owner)},
      ${row.name}, ${toColumn(sql, row.value)}, ${row.updatedBy}
    )`;
}

export async function updateRow<Value>(
  sql: Sql,
  { table, idColumn, valueColumn, toColumn }: NamedTable<Value>,
  row: WrittenRow<Value>,
): Promise<void> {
  await sql`
    update ${sql(table)}
    set
      ${sql(valueColumn)} = ${toColumn(sql, row.value)},
      updated_by = ${row.updatedBy},
      updated_at = now()
    where ${sql(idColumn)} = ${row.id}`;
}

export async function deleteRow<Value>(
  sql: Sql,
  { table, idColumn }: NamedTable<Value>,
  id: string,
): Promise<void> {
  await sql`delete from ${sql(table)} where ${sql(idColumn)} = ${id}`;
}

export async function findRow<Value>(
  sql: Sql,
  table: NamedTable<Value>,
  { owner, name }: { readonly owner: Owner; readonly name: string },
): Promise<NamedRow<Value> | undefined> {
  const [row] = await sql<NamedRow<Value>[]>`
    ${selectRows(sql, table)} where name = ${name} and ${isOf(sql, owner)}`;
  return row;
}

/** Returns up to `limit` rows of an owner, by name in byte order. */
export async function listRows<Value>(
  sql: Sql,
  table: NamedTable<Value>,
  page: { readonly owner: Owner; readonly limit: number; readonly afterName: string },
): Promise<readonly NamedRow<Value>[]> {
  return sql<NamedRow<Value>[]>`
    ${selectRows(sql, table)}
    where ${isOf(sql, page.owner)} and name collate "C" > ${page.afterName}
    order by name collate "C"
    limit ${page.limit}`;
}
