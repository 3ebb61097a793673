// Transactions and column types of the pool, against a real Postgres.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/postgres/database.ts";
import { createTestDatabase } from "../support/database.ts";
import type { TestDatabase } from "../support/database.ts";

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.database;
  await database.sql()`create table counters (name text primary key, value bigint not null)`;
});

afterAll(() => testDatabase.drop());

async function names(): Promise<readonly string[]> {
  const rows = await database.sql()<{ name: string }[]>`select name from counters order by name`;
  return rows.map(({ name }) => name);
}

describe("transaction", () => {
  test("inside another joins it, so that both are undone together", async () => {
    const work = database.transaction(async () => {
      await database.transaction((sql) => sql`insert into counters values ('inner', 1)`);
      await database.sql()`insert into counters values ('outer', 1)`;
      throw new Error("changed my mind");
    });

    await expect(work).rejects.toThrow("changed my mind");
    expect(await names()).toEqual([]);
  });

  test("is ambient only inside its work", async () => {
    const inside = await database.transaction(async () => database.isInTransaction());

    expect([inside, database.isInTransaction()]).toEqual([true, false]);
  });

  test("is run again when Postgres ended it for a deadlock", async () => {
    await database.sql()`insert into counters values ('a', 0), ('b', 0)`;
    let attempts = 0;
    const both = { arrived: 0, release: () => {} };
    const bothArrived = new Promise<void>((settle) => (both.release = settle));
    const addInOrder = (first: string, second: string) =>
      database.transaction(async (sql) => {
        attempts += 1;
        await sql`update counters set value = value + 1 where name = ${first}`;
        both.arrived += 1;
        if (both.arrived === 2) both.release();
        await bothArrived;
        await sql`update counters set value = value + 1 where name = ${second}`;
      });

    await Promise.all([addInOrder("a", "b"), addInOrder("b", "a")]);

    const rows = await database.sql()`select value from counters order by name`;
    expect(rows.map(({ value }) => value as number)).toEqual([2, 2]);
    expect(attempts).toBe(3);
  });
});

describe("step", () => {
  test("that fails inside a transaction is undone alone", async () => {
    const undone: string[] = [];
    const done: string[] = [];

    await database.transaction(async (sql) => {
      await sql`insert into counters values ('before', 1)`;
      const failing = database.step(async () => {
        await database.sql()`insert into counters values ('undone', 1)`;
        database.afterCommit(() => undone.push("told"));
        await database.sql()`insert into counters values ('before', 2)`;
      });
      await expect(failing).rejects.toThrow("duplicate key");
      await database.step(async () => {
        await database.sql()`insert into counters values ('after', 1)`;
        database.afterCommit(() => done.push("told"));
      });
      expect(done).toEqual([]);
    });

    expect((await names()).filter((name) => !["a", "b"].includes(name))).toEqual([
      "after",
      "before",
    ]);
    expect([undone, done]).toEqual([[], ["told"]]);
  });

  test("outside a transaction is one", async () => {
    const failing = database.step(async (sql) => {
      await sql`insert into counters values ('alone', 1)`;
      expect(database.isInTransaction()).toBe(true);
      throw new Error("changed my mind");
    });

    await expect(failing).rejects.toThrow("changed my mind");
    expect(await names()).not.toContain("alone");
  });
});

describe("sql", () => {
  test("reads and writes bigint columns as numbers", async () => {
    const want = 1_767_225_600_000_123;

    const [row] = await database.sql()<{ value: number }[]>`
      insert into counters values ('big', ${want}) returning value`;

    expect(row?.value).toBe(want);
  });

  test("sorts text by its bytes and folds the case of every letter", async () => {
    const [row] = await database.sql()<{ isByteOrder: boolean; folded: string }[]>`
      select 'Z' < 'a' and 'z' < 'é' as "isByteOrder", lower('É') as folded`;

    expect(row).toEqual({ isByteOrder: true, folded: "é" });
  });
});
