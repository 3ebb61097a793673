// Postgres fails over to a synchronous standby under writes: the primary is killed, servers meet
// the standby before it may be written to, then it takes over. Nothing acknowledged is lost or
// doubled.

import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/postgres/database.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { startBalancer } from "../support/balancer.ts";
import { serve, terminate } from "../support/deployment.ts";
import { givenAKey } from "../support/keys.ts";
import { listWrongTotals, startLoad } from "../support/load.ts";
import { patience } from "../support/patience.ts";
import { startPostgresPair } from "../support/postgres-pair.ts";
import { givenAProject } from "../support/project.ts";
import { startProxy } from "../support/proxy.ts";

test(
  "a failover of Postgres loses nothing acknowledged and doubles nothing",
  { timeout: 300_000 },
  async () => {
    let key = "";
    const pair = await startPostgresPair(async (database) => {
      await migrate(database);
      const project = await givenAProject(database);
      key = (await givenAKey(database, project, { kind: "project" })).secret;
    });
    const proxy = await startProxy(pair.primaryUrl);
    onTestFinished(() => proxy.shut());
    const servers = await Promise.all([serve(proxy.url), serve(proxy.url)]);
    const balancer = await startBalancer(servers.map(({ url }) => url));
    await expect.poll(() => balancer.inService().length, patience).toBe(2);
    const load = startLoad({ url: balancer.url, key, writers: 4, retriesMax: Infinity });
    await load.more(30);

    await pair.killPrimary();
    proxy.switchTo(pair.standbyUrl);
    // Each writer has tried at least once on the standby, which reads and does not write.
    await expect
      .poll(() => load.retries.filter(({ cause }) => cause === 503).length, patience)
      .toBeGreaterThan(4);
    await pair.promote();
    await load.more(30);
    await load.stop();

    expect(load.failures).toEqual([]);
    expect(await load.expectStored()).toBeGreaterThan(0);
    const database = openDatabase({ url: pair.standbyUrl });
    onTestFinished(() => database.close());
    expect(await listWrongTotals(database)).toEqual([]);
    expect(await Promise.all(servers.map(({ process }) => terminate(process)))).toEqual([0, 0]);
  },
);
