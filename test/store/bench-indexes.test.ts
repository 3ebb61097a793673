// Benchmarks fill a partitioned table without its indexes and make the same ones again.

import { expect, test } from "vitest";
import { dropIndexes } from "../bench/indexes.ts";
import { givenTestDatabase } from "../support/database.ts";

const testDatabase = givenTestDatabase();

test("indexes that are made again are on every partition", async () => {
  const sql = testDatabase.database.sql();
  const list = () => sql`
    select tablename, regexp_replace(indexdef, '^.* USING', '') as definition
    from pg_indexes
    where tablename like 'events%' and indexname not like '%pkey'
    order by 1, 2`;
  const before = await list();

  const definitions = await dropIndexes(sql, "events");
  const between = await list();
  for (const definition of definitions) await sql.unsafe(definition);

  expect(between).toEqual([]);
  expect([...(await list())]).toEqual([...before]);
  expect(new Set(before.map(({ tablename }) => tablename as string)).size).toBe(9);
});
