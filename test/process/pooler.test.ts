// Behind PgBouncer in transaction mode: doctor names the settings that are needed, and with them
// two servers under load share few connections. Skipped where PGBOUNCER is not set.

import { expect, onTestFinished, test } from "vitest";
import { startBalancer } from "../support/balancer.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { serve } from "../support/deployment.ts";
import { givenAKey } from "../support/keys.ts";
import { listWrongTotals, startLoad } from "../support/load.ts";
import { patience } from "../support/patience.ts";
import {
  countOthers,
  knowsStatements,
  skipWithoutPooler,
  skipWithoutStatements,
  startPooler,
} from "../support/pooler.ts";
import { givenAnEmptyDataFolder, run } from "../support/process.ts";
import { givenAProject } from "../support/project.ts";

const timeout = 300_000;
const ignored = "statement_timeout, idle_in_transaction_session_timeout";

async function givenADatabase(): Promise<TestDatabase> {
  const testDatabase = await createTestDatabase();
  onTestFinished(() => testDatabase.drop());
  return testDatabase;
}

async function setTimeouts({ database, url }: TestDatabase): Promise<void> {
  const name = database.sql()(new URL(url).pathname.slice(1));
  await database.sql()`alter database ${name} set statement_timeout = '30s'`;
  await database.sql()`alter database ${name} set idle_in_transaction_session_timeout = '10min'`;
}

test("doctor names what PgBouncer has to be set to", { timeout }, async (context) => {
  skipWithoutPooler(context);
  const testDatabase = await givenADatabase();
  const folder = await givenAnEmptyDataFolder();
  const doctor = async (url: string) =>
    (await run("doctor", "--data", folder, "--database-url", url).ended()).output;

  const refused = await doctor(await startPooler(testDatabase.url, {}));
  expect(refused).toMatch(/^FAIL {2}database: not reachable: unsupported startup parameter/m);
  expect(refused).toContain(`ignore_startup_parameters = ${ignored}`);

  // Newer releases know some statements where nothing is set.
  const none = knowsStatements() ? { max_prepared_statements: 0 } : {};
  const settings = { ignore_startup_parameters: ignored, ...none };
  const dropped = await doctor(await startPooler(testDatabase.url, settings));
  expect(dropped).toMatch(/^FAIL {2}database: reachable, .*, pooled by transaction; LISTEN hears/m);
  expect(dropped).toContain("access-poll-ms");
  expect(dropped).toContain("max_prepared_statements = 200");
  expect(dropped).toContain("set statement_timeout = '30s'");
  expect(dropped).toContain("set idle_in_transaction_session_timeout = '10min'");
  expect(dropped).toContain("prepare=false");

  await setTimeouts(testDatabase);
  const url = await startPooler(testDatabase.url, settings);
  const fallsBack = await doctor(`${url}&prepare=false`);
  expect(fallsBack).toMatch(/^ok {4}database: reachable, .*, pooled by transaction; LISTEN hears/m);
  expect(fallsBack).toMatch(/prepare=false parses .* max_prepared_statements = 200/);

  const session = { ignore_startup_parameters: ignored, pool_mode: "session" };
  const heard = await doctor(await startPooler(testDatabase.url, session));
  expect(heard).toMatch(/^ok {4}database: reachable, .*, pooled by session$/m);
});

test.for([
  { name: "without prepared statements", suffix: "&prepare=false", needsStatements: false },
  { name: "with prepared statements", suffix: "", needsStatements: true },
])("two servers share the pooler's connections $name", { timeout }, async (given, context) => {
  const { suffix, needsStatements } = given;
  skipWithoutPooler(context);
  if (needsStatements) skipWithoutStatements(context);
  const connectionsMax = 5;
  const testDatabase = await givenADatabase();
  const { database } = testDatabase;
  const { secret: key } = await givenAKey(database, await givenAProject(database), {
    kind: "project",
  });
  await setTimeouts(testDatabase);
  // Those of this program, which stay open.
  const before = await countOthers(testDatabase.url);
  const url = await startPooler(testDatabase.url, {
    ignore_startup_parameters: ignored,
    default_pool_size: connectionsMax,
    ...(needsStatements && { max_prepared_statements: 200 }),
  });
  const start = () => serve(`${url}${suffix}`, "--database-connections", "20");
  const servers = await Promise.all([start(), start()]);
  const balancer = await startBalancer(servers.map((server) => server.url));
  await expect.poll(() => balancer.inService().length, patience).toBe(2);
  const load = startLoad({ url: balancer.url, key, writers: 12, retriesMax: 0 });
  await load.more(100);

  expect((await countOthers(testDatabase.url)) - before).toBeLessThanOrEqual(connectionsMax);
  await load.stop();
  expect(load.failures).toEqual([]);
  expect(await load.expectStored()).toBeGreaterThan(0);
  expect(await listWrongTotals(database)).toEqual([]);
});
