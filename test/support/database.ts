// A separate database for each test file, copied from the migrated template.

import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { createLogger } from "../../src/base/logger.ts";
import { openClusters } from "../../src/postgres/clusters.ts";
import type { Clusters } from "../../src/postgres/clusters.ts";
import { openDatabase } from "../../src/postgres/database.ts";
import type { Database } from "../../src/postgres/database.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { givenStarted } from "./given.ts";
import { checkRouting, watchRouting } from "./routing.ts";

export const templateName = "waggle_template";

export type TestDatabase = {
  readonly url: string;
  readonly database: Database;
  drop(): Promise<void>;
};

/**
 * Creates a migrated, empty database. On Citus `drop` fails if a statement on a project's data was
 * sent to more than one shard.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const url = await createDatabase(templateName);
  const database = openDatabase({ url });
  return {
    url,
    database,
    async drop() {
      try {
        await checkRouting(database);
      } finally {
        await database.close();
        await dropDatabase(url);
      }
    },
  };
}

/** Gives the tests of a file a database of their own. */
export function givenTestDatabase(): TestDatabase {
  return givenStarted(createTestDatabase, (own) => own.drop());
}

/** Returns the URL of a test's database, for another process. */
export async function urlOf(database: Database): Promise<string> {
  const [row] = await database.sql()<{ name: string }[]>`select current_database() as name`;
  return databaseUrl(inject("serverUrl"), row?.name ?? "");
}

/** Opens the clusters of a test; without URLs, the database itself is the only cluster. */
export function openTestClusters(
  control: Database,
  urls: Readonly<Record<string, string>> = {},
): Clusters {
  return openClusters({
    control: watchRouting(control),
    urls,
    connectionsMax: 12,
    prepare: migrate,
    logger: createLogger("silent"),
    lookMs: 200,
  });
}

/** Creates a database and returns its URL; `template1` gives one without migrations. */
export async function createDatabase(template: "template1" | typeof templateName): Promise<string> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  const copied = template === "template1" ? inject("emptyTemplate") : template;
  await onServers(
    (sql) => sql`create database ${sql(name)} template ${sql(copied)} strategy file_copy`,
  );
  return databaseUrl(inject("serverUrl"), name);
}

export async function dropDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await onServers((sql) => sql`drop database if exists ${sql(name)} with (force)`);
}

/** Returns a server's URL with another database name. */
export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.toString();
}

/** One server, or every node of the Citus cluster of CITUS_URL. */
async function onServers(
  work: (sql: ReturnType<Database["sql"]>) => PromiseLike<unknown>,
): Promise<void> {
  for (const url of inject("nodeUrls")) {
    const server = openDatabase({ url, connectionsMax: 1 });
    try {
      await work(server.sql());
    } finally {
      await server.close();
    }
  }
}

/** Ends the connections that listen for access changes; returns their number. */
export async function cutListeners(database: Database): Promise<number> {
  const rows = await database.sql()`
    select pg_terminate_backend(pid)
    from pg_stat_activity
    where datname = current_database() and query like 'listen "waggle_access%'`;
  return rows.length;
}

/** Returns how many statements on a database wait for a lock, on every node of a Citus cluster. */
export async function countLockWaits(database: Database): Promise<number> {
  const { pathname } = new URL(await urlOf(database));
  let count = 0;
  await onServers(async (sql) => {
    const rows = await sql`
      select pid
      from pg_stat_activity
      where datname = ${pathname.slice(1)} and wait_event_type = 'Lock'`;
    count += rows.length;
  });
  return count;
}
