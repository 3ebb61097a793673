// A rolling restart of two servers behind a TCP balancer and of two workers, under load, after a
// later migration: no call fails, none is done twice, and each event is scored once. Source:
// docs/decisions.md, 36.4.

import { expect, onTestFinished, test, type TestContext } from "vitest";
import type { Database } from "../../src/postgres/database.ts";
import { sayMissing } from "../clients/environment.ts";
import { type Balancer, startBalancer } from "../support/balancer.ts";
import { createTestDatabase } from "../support/database.ts";
import { runWorker, type Server, serve, terminate } from "../support/deployment.ts";
import { givenAKey } from "../support/keys.ts";
import { listWrongTotals, type Load, startLoad } from "../support/load.ts";
import { addEvaluator, readScores } from "../support/marked-scores.ts";
import { patience } from "../support/patience.ts";
import { givenAProject } from "../support/project.ts";
import { startTestTemporal } from "../support/temporal.ts";

const timeout = 600_000;

type Deployment = {
  readonly database: Database;
  readonly databaseUrl: string;
  readonly key: string;
  readonly servers: readonly Server[];
  readonly balancer: Balancer;
  readonly startServer: () => Promise<Server>;
};

async function deploy(): Promise<Deployment> {
  const testDatabase = await createTestDatabase();
  onTestFinished(() => testDatabase.drop());
  const { url: databaseUrl, database } = testDatabase;
  const { secret: key } = await givenAKey(database, await givenAProject(database), {
    kind: "project",
  });
  // Long enough for a balancer on a busy machine to see that a server leaves.
  const startServer = () => serve(databaseUrl, "--shutdown-delay-ms", "10000");
  const servers = await Promise.all([startServer(), startServer()]);
  const balancer = await startBalancer(servers.map(({ url }) => url));
  await expect.poll(() => balancer.inService().length, patience).toBe(2);
  return { database, databaseUrl, key, servers, balancer, startServer };
}

/** Ends a server and puts another one in its place. */
async function replace({ balancer, startServer }: Deployment, { url, process }: Server) {
  expect(await terminate(process)).toBe(0);
  balancer.remove(url);
  const { url: next } = await startServer();
  balancer.add(next);
  await expect.poll(() => balancer.inService(), patience).toContain(next);
}

/** Servers read the migrations again within this time, as they keep an answer for a second. */
const askedAgainMs = 2_000;

/**
 * Does what the migration of a later release does while this one serves, until the servers have
 * seen it: they stay ready. Undone afterwards, as the test has no later servers to start.
 */
async function migrateLater({ database, servers }: Deployment): Promise<void> {
  const statuses = new Set<number>();
  await database.sql()`insert into schema_migrations (version, name) values (9999, 'later')`;
  const untilMs = Date.now() + askedAgainMs;
  while (Date.now() < untilMs) {
    for (const { url } of servers) statuses.add((await fetch(`${url}/readyz`)).status);
  }
  await database.sql()`delete from schema_migrations where version = 9999`;
  expect([...statuses]).toEqual([200]);
}

/** Returns the number of stored events. */
async function expectNothingLost({ balancer, database }: Deployment, load: Load) {
  expect(load.failures).toEqual([]);
  // A second try is for a server that said 503; no connection is cut under a call.
  expect(load.retries.filter(({ cause }) => cause !== 503)).toEqual([]);
  const events = await load.expectStored(balancer.inService()[0]);
  expect(events).toBeGreaterThan(0);
  expect(await listWrongTotals(database)).toEqual([]);
  return events;
}

test(
  "a rolling restart of servers and workers scores each event once",
  { timeout },
  async (context) => {
    const { startWorker, ...deployment } = await deployWithWorkers(context);
    const { database, key, servers, balancer } = deployment;
    const workers = [startWorker(), startWorker()];
    await addEvaluator(balancer.url, key);
    const load = startLoad({ url: balancer.url, key, writers: 2, retriesMax: 1 });
    const scoresMore = async (count: number) => {
      const wanted = (await readScores(database)).ended + count;
      await expect
        .poll(async () => (await readScores(database)).ended, patience)
        .toBeGreaterThan(wanted);
    };
    await scoresMore(20);
    await migrateLater(deployment);

    for (const [index, worker] of workers.entries()) {
      expect(await terminate(worker)).toBe(0);
      startWorker();
      const server = servers[index];
      if (server) await replace(deployment, server);
      await scoresMore(20);
    }
    await load.stop();

    const events = await expectNothingLost(deployment, load);
    await expect
      .poll(async () => (await readScores(database)).ended, { timeout: timeout / 2, interval: 200 })
      .toBe(events);
    expect(await readScores(database)).toEqual({ ended: events, counted: events, right: events });
  },
);

async function deployWithWorkers({ skip }: TestContext) {
  const temporal = await startTestTemporal();
  sayMissing("evaluators", temporal);
  if (temporal.missing !== undefined) return skip(temporal.missing);
  onTestFinished(() => temporal.stop());
  const deployment = await deploy();
  const startWorker = () => runWorker(deployment.databaseUrl, temporal);
  return { ...deployment, startWorker };
}
