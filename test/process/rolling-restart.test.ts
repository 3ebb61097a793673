// A rolling restart of two servers behind a TCP balancer, under load: no call fails and none is
// done twice. Source: docs/decisions.md, 36.4.

import { expect, onTestFinished, test } from "vitest";
import { startBalancer } from "../support/balancer.ts";
import { createTestDatabase } from "../support/database.ts";
import { serve, terminate } from "../support/deployment.ts";
import { givenAKey } from "../support/keys.ts";
import { listWrongTotals, startLoad } from "../support/load.ts";
import { patience } from "../support/patience.ts";
import { givenAProject } from "../support/project.ts";

test("a rolling restart under load fails no call", { timeout: 300_000 }, async () => {
  const testDatabase = await createTestDatabase();
  onTestFinished(() => testDatabase.drop());
  const { url: databaseUrl, database } = testDatabase;
  const { secret: key } = await givenAKey(database, await givenAProject(database), {
    kind: "project",
  });
  // Long enough for a balancer on a busy machine to see that a server leaves.
  const start = () => serve(databaseUrl, "--shutdown-delay-ms", "10000");
  const servers = await Promise.all([start(), start()]);
  const balancer = await startBalancer(servers.map(({ url }) => url));
  await expect.poll(() => balancer.inService().length, patience).toBe(2);
  const load = startLoad({ url: balancer.url, key, writers: 4, retriesMax: 1 });
  await load.more(20);

  for (const { url, process } of servers) {
    expect(await terminate(process)).toBe(0);
    balancer.remove(url);
    const { url: next } = await start();
    balancer.add(next);
    await expect.poll(() => balancer.inService(), patience).toContain(next);
    await load.more(10);
  }
  await load.stop();

  expect(load.failures).toEqual([]);
  // A second try is for a server that said 503; no connection is cut under a call.
  expect(load.retries.filter(({ cause }) => cause !== 503)).toEqual([]);
  expect(await load.expectStored(balancer.inService()[0])).toBeGreaterThan(0);
  expect(await listWrongTotals(database)).toEqual([]);
});
