// One answer about readiness for all who ask, on a real database.

import { describe, expect, test, vi } from "vitest";
import { getMigrationState } from "../../src/postgres/migrate.ts";
import { createReadiness } from "../../src/observability/readiness.ts";
import { type Database, openDatabase } from "../../src/postgres/database.ts";
import { givenTestDatabase } from "../support/database.ts";
import { patience } from "../support/patience.ts";

const testDatabase = givenTestDatabase();

/** Readiness by a clock of the test, with the number of questions that the database was asked. */
function givenReadiness(away: () => readonly string[] = () => []) {
  const asked = { count: 0 };
  const database: Database = {
    ...testDatabase.database,
    sql: () => {
      asked.count += 1;
      return testDatabase.database.sql();
    },
  };
  const clock = { nowMs: 0 };
  const read = createReadiness({
    readMigrations: () => getMigrationState(database),
    clusters: { away },
    now: () => clock.nowMs,
  });
  return { read, clock, asked };
}

describe("createReadiness", () => {
  test("asks once for a thousand callers, and again when the answer is a second old", async () => {
    const { read, clock, asked } = givenReadiness();
    const readAll = () => Promise.all(Array.from({ length: 1_000 }, () => read()));

    const [first] = await readAll();
    clock.nowMs = 999;
    await readAll();
    const inTheFirstSecond = asked.count;
    clock.nowMs = 1_000;
    await readAll();

    expect(first).toEqual({ ready: true, missing: [], degraded: [] });
    expect([inTheFirstSecond, asked.count]).toEqual([1, 2]);
  });

  test("asks no second question while the database owes an answer", async () => {
    const { read, clock, asked } = givenReadiness();
    const elsewhere = openDatabase({ url: testDatabase.url });
    const reads: ReturnType<typeof read>[] = [];
    const release = Promise.withResolvers<undefined>();
    const holding = elsewhere.transaction(async (sql) => {
      await sql`lock table schema_migrations in access exclusive mode`;
      for (const atMs of [0, 1_000, 2_000, 3_000]) {
        clock.nowMs = atMs;
        reads.push(read());
      }
      await release.promise;
    });
    await vi.waitUntil(() => reads.length === 4, patience);

    const answers = await Promise.all(reads);
    release.resolve(undefined);
    await holding;
    await elsewhere.close();

    expect(answers.map(({ missing }) => missing)).toEqual(
      Array.from({ length: 4 }, () => ["database (no answer)"]),
    );
    expect(asked.count).toBe(1);
    clock.nowMs = 4_000;
    expect(await read()).toMatchObject({ ready: true });
  });

  test("stays ready while the database takes no writes, and says so", async () => {
    const url = new URL(testDatabase.url);
    url.searchParams.set("default_transaction_read_only", "on");
    const readOnly = openDatabase({ url: url.href });
    const read = createReadiness({
      readMigrations: () => getMigrationState(readOnly),
      clusters: { away: () => ["eu"] },
    });

    const got = await read();
    await readOnly.close();

    const degraded = ["database (takes no writes)", "cluster eu"];
    expect(got).toEqual({ ready: true, missing: [], degraded });
  });

  test("says at once which clusters are away, which costs no question", async () => {
    let clusters: readonly string[] = [];
    const { read, asked } = givenReadiness(() => clusters);
    const before = await read();
    clusters = ["eu"];

    const after = await read();

    expect([before.degraded, after.degraded]).toEqual([[], ["cluster eu"]]);
    expect([after.ready, asked.count]).toEqual([true, 1]);
  });

  test("goes on over a later migration, and names missing ones and an empty database", async () => {
    const { read, clock } = givenReadiness();
    const missingAt = async (ms: number) => {
      clock.nowMs = ms;
      return (await read()).missing;
    };
    const sql = testDatabase.database.sql();
    await sql`insert into schema_migrations (version, name) values (9999, 'later')`;
    const newer = await missingAt(10_000);
    await sql`delete from schema_migrations where version = 9999`;
    const [last] = await sql<{ version: number; name: string }[]>`
      delete from schema_migrations
      where version = (select max(version) from schema_migrations)
      returning *`;
    const older = await missingAt(15_000);
    await sql`alter table schema_migrations rename to elsewhere`;
    const empty = await missingAt(20_000);
    await sql`alter table elsewhere rename to schema_migrations`;
    if (!last) throw new Error("there are no migrations");
    await sql`insert into schema_migrations ${sql(last)}`;

    expect(newer).toEqual([]);
    expect(older).toEqual([`migrations (at ${last.version - 1}, want ${last.version})`]);
    expect(empty).toEqual([expect.stringMatching(/^migrations \(at 0, want \d+\)$/)]);
    expect(await missingAt(30_000)).toEqual([]);
  });
});
