// Indexes of a table that a benchmark fills: without them rows go in faster.

import type { Sql } from "../../src/postgres/database.ts";

/** Drops the indexes of a table, but not its key, and returns the statements that make them. */
export async function dropIndexes(sql: Sql, table: string): Promise<readonly string[]> {
  const indexes = await sql<{ name: string; definition: string }[]>`
    select indexname as name, indexdef as definition
    from pg_indexes
    where schemaname = current_schema() and tablename = ${table}
      and indexname <> ${`${table}_pkey`}
    order by indexname`;
  for (const { name } of indexes) await sql`drop index ${sql(name)}`;
  // Postgres shows the index of a partitioned table as that of the parent alone (ON ONLY), which
  // no partition would have.
  return indexes.map(({ definition }) => definition.replace(" ON ONLY ", " ON "));
}
