// Transactions and column types of the pool, against a real Postgres.

import { setTimeout as delay } from "node:timers/promises";
import type postgres from "postgres";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type Database, openDatabase, type Sql } from "../../src/postgres/database.ts";
import { givenTestDatabase, urlOf } from "../support/database.ts";
import { patience } from "../support/patience.ts";
import { startProxy } from "../support/proxy.ts";

const testDatabase = givenTestDatabase();
let database: Database;

beforeAll(async () => {
  database = testDatabase.database;
  await database.sql()`create table counters (name text primary key, value bigint not null)`;
});

/** Opens the database with one connection of each kind. */
function openOwn(): Database {
  const own = openDatabase({ url: testDatabase.url, connectionsMax: 3 });
  onTestFinished(() => own.close());
  return own;
}

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

  test("is rolled back if it took too long to be committed", async () => {
    const hasty = openDatabase({ url: testDatabase.url, transactionAgeMsMax: 0 });
    onTestFinished(() => hasty.close());

    const work = hasty.transaction((sql) => sql`insert into counters values ('late', 1)`);

    await expect(work).rejects.toThrow("took longer than 0 ms");
    expect(await names()).toEqual([]);
  });

  test("begins behind as many statements as wait on its connection", async () => {
    const own = openOwn().on("callers");
    const sleep = (seconds: number) => own.sql()`select pg_sleep(${seconds}::float8)`.execute();
    await sleep(0);

    // With the transaction's, as many wait as the driver lets wait by default.
    const before = Array.from({ length: 100 }, (_, index) => sleep(index === 0 ? 0.2 : 0));
    const [row] = await own.transaction((sql) => sql<{ value: number }[]>`select 1 as value`);

    expect(row).toEqual({ value: 1 });
    await Promise.all(before);
  });

  test("is run again when a change of the schema made a statement stale", async () => {
    const own = openOwn();
    await own.sql()`create table changed_under (value integer)`;
    const put = (value: number) =>
      own.transaction((sql) => sql`insert into changed_under values (${value}) returning value`);
    await put(1);

    await own.sql()`alter table changed_under alter value type bigint`;

    expect([...(await put(2))]).toEqual([{ value: 2 }]);
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
    // On a busy machine the one that is run again may be the first at the row for a second time.
    expect(attempts).toBeGreaterThanOrEqual(3);
  });
});

test("a statement fails where a proxy has no Postgres behind it, and the next works", async () => {
  const proxy = await startProxy(testDatabase.url);
  const own = openDatabase({ url: proxy.url, connectionsMax: 1 });
  onTestFinished(async () => {
    await own.close();
    await proxy.shut();
  });
  proxy.switchTo("postgres://127.0.0.1:1/nothing");

  await expect(own.sql()`select 1`).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
  proxy.switchTo(testDatabase.url);

  expect(await own.sql()`select 1 as one`).toEqual([{ one: 1 }]);
});

describe("a transaction whose connection is lost", () => {
  const lost = {
    code: expect.stringMatching(/^(57P01|CONNECTION_CLOSED|ECONNRESET|EPIPE)$/) as unknown,
  };

  async function pidOf(sql: Sql): Promise<number> {
    const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    return row?.pid ?? 0;
  }

  test("fails between two statements, and nothing later of its work reaches Postgres", async () => {
    const before = await names();
    const gone = Promise.withResolvers<undefined>();
    const later = Promise.withResolvers<unknown>();
    const url = await urlOf(database);
    const other = openDatabase({ url, connectionsMax: 1 });
    onTestFinished(() => other.close());
    const transaction = database.transaction(async (sql) => {
      await sql`insert into counters values ('before', 1)`;
      await other.sql()`select pg_terminate_backend(${await pidOf(sql)}::integer, 5000::bigint)`;
      await gone.promise;
      try {
        await sql`insert into counters values ('after', 1)`;
      } catch (error) {
        later.resolve(error);
      }
    });
    transaction.catch(() => gone.resolve(undefined));

    await expect(transaction).rejects.toMatchObject(lost);
    expect(await later.promise).toMatchObject(lost);
    // The connection is made again, and is another's.
    expect(await names()).toEqual(before);
  });

  test("fails in a statement of a step, and the pool is as good as before", async () => {
    const before = await names();
    const other = openDatabase({ url: await urlOf(database), connectionsMax: 1 });
    onTestFinished(() => other.close());
    for (let count = 0; count < 20; count += 1) {
      const transaction = database.transaction(async (sql) => {
        await sql`insert into counters values ('before', 1)`;
        await database.step(async (inner) => {
          const pid = await pidOf(inner);
          const sleeping = inner`select pg_sleep(30)`.execute();
          await Promise.all([sleeping, other.sql()`select pg_terminate_backend(${pid}::integer)`]);
        });
      });
      await expect(transaction).rejects.toMatchObject(lost);
    }
    await Promise.all(Array.from({ length: 20 }, () => names()));
    expect(await names()).toEqual(before);
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

  test("is repeated with its own values after a change of the schema", async () => {
    const sql = openOwn().sql();
    await sql`create table stale (id integer, flag boolean, json jsonb, bytes bytea)`;
    const put = (): Promise<postgres.Row[]> => sql`
      insert into stale values (1, ${true}, ${sql.json({ a: 1 })}, ${Buffer.from("text")})
      returning id, flag, json, bytes`;
    const want = [{ id: 1, flag: true, json: { a: 1 }, bytes: Buffer.from("text") }];
    expect([...(await put())]).toEqual(want);

    await sql`alter table stale alter id type bigint`;

    expect([...(await put())]).toEqual(want);
  });

  test("is repeated without the rows of statements beside it", async () => {
    const sql = openOwn().sql();
    await sql`create table beside (id integer)`;
    await sql`insert into beside values (1)`;
    const stale = () => sql`select id, ${"own"}::text as name from beside`.execute();
    const other = (value: number) => sql`select ${value}::integer as value`.execute();
    await stale();
    await other(0);
    await sql`alter table beside alter id type bigint`;

    const sleeping = sql`select pg_sleep(0.1)`.execute();
    const repeated = stale();
    const others: ReturnType<typeof other>[] = [];
    const timer = setInterval(() => others.push(other(others.length)), 1);
    await sleeping;
    await delay(50);
    clearInterval(timer);

    expect([...(await repeated)]).toEqual([{ id: 1, name: "own" }]);
    const got = (await Promise.all(others)).map((rows) => [...rows]);
    expect(got).toEqual(others.map((_, value) => [{ value }]));
  });

  test.each([
    { name: "a Date of no time", valueOf: () => new Date(NaN) },
    { name: "undefined", valueOf: () => undefined as unknown as Date },
  ])("fails alone with $name as a value", async ({ valueOf }) => {
    const sql = openOwn().sql();
    const read = async (value: number, time: Date) => [
      ...(await sql`select ${value}::integer as value, ${time}::timestamptz as time`),
    ];
    const time = new Date(0);
    const want = (value: number) => ({ status: "fulfilled", value: [{ value, time }] });
    await read(0, time);

    const got = await Promise.allSettled([
      read(1, time),
      read(9, valueOf()),
      read(2, time),
      read(3, time),
    ]);

    const refused = { status: "rejected", reason: expect.any(TypeError) as unknown };
    expect(got).toEqual([want(1), refused, want(2), want(3)]);
  });

  test("does not fail for the end of an earlier session", async () => {
    const own = openOwn();
    const other = openOwn();
    const read = () => own.sql()<{ pid: number }[]>`select pg_backend_pid() as pid`;
    for (const next of [read, () => own.transaction(() => read())]) {
      const [row] = await read();
      const sleeping = own.sql()`select pg_sleep(30)`.execute();
      const failed = expect(sleeping).rejects.toThrow("CONNECTION_CLOSED");
      // A session that ends before it has read the whole statement resets its connection.
      await vi.waitFor(async () => {
        const waits = other.sql()`
          select wait_event from pg_stat_activity where pid = ${row?.pid ?? 0}::integer`;
        expect(await waits).toEqual([{ wait_event: "PgSleep" }]);
      }, patience);
      await other.sql()`select pg_terminate_backend(${row?.pid ?? 0}::integer)`;
      await failed;

      expect((await next())[0]?.pid).not.toBe(row?.pid);
    }
  });
});
