// Migrations against a real Postgres: order, concurrency, and databases of newer code.

import { afterEach, describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/postgres/database.ts";
import { getMigrationState, listMigrations, migrate } from "../../src/postgres/migrate.ts";
import { createDatabase, dropDatabase } from "../support/database.ts";

type LimitOptions = { readonly transactionAgeMsMax?: number };

const opened: { url: string; databases: Database[] }[] = [];

/** Returns a function that connects to a new database once more each time. */
async function givenAnEmptyDatabase(): Promise<(options?: LimitOptions) => Database> {
  const url = await createDatabase("template1");
  const databases: Database[] = [];
  opened.push({ url, databases });
  return (options = {}) => {
    const database = openDatabase({ ...options, url });
    databases.push(database);
    return database;
  };
}

afterEach(async () => {
  for (const { url, databases } of opened.splice(0)) {
    await Promise.all(databases.map((database) => database.close()));
    await dropDatabase(url);
  }
});

describe("migrate", () => {
  test("applies every migration once when several processes start together", async () => {
    const connect = await givenAnEmptyDatabase();
    const databases = Array.from({ length: 4 }, () => connect());

    const applied = (await Promise.all(databases.map(migrate))).flat();

    const want = (await listMigrations()).map(({ name }) => name);
    expect(applied.toSorted()).toEqual(want);
  });

  test("finds nothing to do the second time", async () => {
    const database = (await givenAnEmptyDatabase())();

    await migrate(database);

    expect(await migrate(database)).toEqual([]);
  });

  test("takes longer than other transactions may", async () => {
    const connect = await givenAnEmptyDatabase();

    const applied = await migrate(connect({ transactionAgeMsMax: 0 }));

    expect(applied).toHaveLength((await listMigrations()).length);
  });

  test("refuses a database that newer code has migrated", async () => {
    const database = (await givenAnEmptyDatabase())();
    await migrate(database);
    await database.sql()`insert into schema_migrations (version, name) values (9999, 'later')`;

    await expect(migrate(database)).rejects.toThrow("start a newer release");
  });
});

describe("getMigrationState", () => {
  test("tells an empty database from a migrated one", async () => {
    const database = (await givenAnEmptyDatabase())();
    const wanted = (await listMigrations()).length;

    const before = await getMigrationState(database);
    await migrate(database);
    const after = await getMigrationState(database);

    expect(before).toEqual({ current: 0, wanted });
    expect(after).toEqual({ current: wanted, wanted });
  });
});
