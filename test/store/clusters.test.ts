// Clusters one by one: migrated when they come, refused while they are away, and never in each
// other's way. Source: docs/decisions.md, 30.

import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Clusters, openClusters } from "../../src/postgres/clusters.ts";
import { assertMigrated, getMigrationState, migrate } from "../../src/postgres/migrate.ts";
import { createDatabase, dropDatabase, givenTestDatabase } from "../support/database.ts";
import { type Proxy, proxyPassword, startProxy } from "../support/proxy.ts";

const control = givenTestDatabase();

async function givenAnEmptyDatabase(): Promise<string> {
  const url = await createDatabase("template1");
  onTestFinished(() => dropDatabase(url));
  return url;
}

async function givenAProxy(): Promise<Proxy> {
  const proxy = await startProxy(await givenAnEmptyDatabase());
  onTestFinished(() => proxy.shut());
  return proxy;
}

function givenClusters(
  urls: Readonly<Record<string, string>>,
  prepare: typeof migrate | typeof assertMigrated = migrate,
): { clusters: Clusters; log: readonly string[] } {
  const log: string[] = [];
  const write = (...words: unknown[]) => void log.push(JSON.stringify(words));
  const clusters = openClusters({
    control: control.database,
    urls,
    connectionsMax: 2,
    prepare,
    lookMs: 100,
    logger: { info: write, warn: write },
  });
  onTestFinished(() => clusters.close());
  return { clusters, log };
}

const isAway = expect.objectContaining({ reason: "DATABASE_UNAVAILABLE" }) as Error;

function usable(clusters: Clusters, id: string): boolean {
  try {
    clusters.database(id);
    return true;
  } catch {
    return false;
  }
}

/** Waits for the migration too, which on Citus may take longer than the first look. */
async function untilUsable(clusters: Clusters, id: string): Promise<void> {
  await clusters.firstLook();
  await vi.waitUntil(() => usable(clusters, id), 60_000);
}

describe("openClusters", () => {
  test("has one cluster without any setting, which is the control database", () => {
    const { clusters } = givenClusters({});

    expect(clusters.ids()).toEqual(["default"]);
    expect(clusters.database("default")).toBe(control.database);
    expect(clusters.isKnown("eu")).toBe(false);
    expect(() => clusters.database("eu")).toThrow(isAway);
  });

  test("takes another database for the default cluster", async () => {
    const { clusters } = givenClusters({ default: await givenAnEmptyDatabase() });
    await clusters.firstLook();

    expect(clusters.ids()).toEqual(["default"]);
    expect(clusters.database("default")).not.toBe(control.database);
  });

  test("migrates each cluster before it is used", async () => {
    const { clusters } = givenClusters({ eu: await givenAnEmptyDatabase() });

    expect(() => clusters.database("eu")).toThrow(isAway);
    await untilUsable(clusters, "eu");

    const { current, wanted } = await getMigrationState(clusters.database("eu"));
    expect(current).toBe(wanted);
    expect(clusters.away()).toEqual([]);
  });

  test("waits for one that only others may migrate", async () => {
    const url = await givenAnEmptyDatabase();
    const { clusters, log } = givenClusters({ eu: url }, assertMigrated);
    await clusters.firstLook();

    expect(clusters.away()).toEqual(["eu"]);
    expect(log.join()).toContain("run waggle migrate");

    const { clusters: migrating } = givenClusters({ eu: url });
    await migrating.firstLook();
    await vi.waitUntil(() => usable(clusters, "eu"), 60_000);
  });

  test("begins without one that is away, which comes by itself", async () => {
    const proxy = await givenAProxy();
    await proxy.shut();
    const { clusters } = givenClusters({ eu: proxy.url, us: await givenAnEmptyDatabase() });
    await untilUsable(clusters, "us");

    expect(clusters.away()).toEqual(["eu"]);
    expect(() => clusters.database("eu")).toThrow(isAway);
    await clusters.database("us").sql()`select count(*) from events where project_id is null`;

    await proxy.open();
    await untilUsable(clusters, "eu");
    await clusters.database("eu").sql()`select count(*) from events where project_id is null`;
  });

  test("refuses one that went away, and has it back when it is", async () => {
    const proxy = await givenAProxy();
    const { clusters, log } = givenClusters({ eu: proxy.url });
    await untilUsable(clusters, "eu");
    const database = clusters.database("eu");

    await proxy.shut();
    await vi.waitUntil(() => !usable(clusters, "eu"), 60_000);
    await proxy.open();
    await vi.waitUntil(() => usable(clusters, "eu"), 60_000);

    expect(clusters.database("eu")).toBe(database);
    await database.sql()`select 1`;
    expect(log.filter((line) => line.includes("is unavailable"))).toHaveLength(1);
  });

  test("refuses one that takes connections and says nothing", async () => {
    const proxy = await givenAProxy();
    const { clusters } = givenClusters({ eu: proxy.url });
    await clusters.firstLook();

    proxy.hang();
    await vi.waitUntil(() => !usable(clusters, "eu"), 60_000);
    await proxy.open();
    await vi.waitUntil(() => usable(clusters, "eu"), 60_000);
  });

  test("stays usable while long statements hold every connection", async () => {
    const { clusters } = givenClusters({ eu: await givenAnEmptyDatabase() });
    await untilUsable(clusters, "eu");
    const sql = clusters.database("eu").sql();

    await Promise.all(Array.from({ length: 4 }, () => sql`select pg_sleep(0.5)`));

    expect(clusters.away()).toEqual([]);
  });

  test("never tells a password", async () => {
    const proxy = await givenAProxy();
    await proxy.shut();
    const noDatabase = await givenAProxy();
    const url = new URL(noDatabase.url);
    url.pathname = "/no_such_database";
    const { clusters, log } = givenClusters({ eu: proxy.url, us: url.toString() });
    await clusters.firstLook();
    const errors = ["eu", "us"].map((id) => {
      try {
        return clusters.database(id) && "";
      } catch (error) {
        return String((error as Error).stack);
      }
    });

    expect(errors.join()).toContain("no_such_database");
    expect([...errors, ...log].join()).not.toContain(proxyPassword);
  });
});
