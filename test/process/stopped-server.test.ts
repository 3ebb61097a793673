// One of two servers stops answering for a while, as by SIGSTOP: the balancer turns to the other,
// and nothing acknowledged is lost or done twice, also when the stopped one goes on.

import { expect, onTestFinished, test } from "vitest";
import { startBalancer } from "../support/balancer.ts";
import { createTestDatabase } from "../support/database.ts";
import { serve } from "../support/deployment.ts";
import { givenAKey } from "../support/keys.ts";
import { listWrongTotals, startLoad } from "../support/load.ts";
import { patience } from "../support/patience.ts";
import { givenAProject } from "../support/project.ts";

test(
  "a server that stops for a while loses and doubles nothing",
  { timeout: 300_000 },
  async () => {
    const testDatabase = await createTestDatabase();
    onTestFinished(() => testDatabase.drop());
    const { url: databaseUrl, database } = testDatabase;
    const { secret: key } = await givenAKey(database, await givenAProject(database), {
      kind: "project",
    });
    const servers = await Promise.all([serve(databaseUrl), serve(databaseUrl)]);
    const [stopped, other] = servers;
    const balancer = await startBalancer(
      servers.map(({ url }) => url),
      { answerMsMax: 5_000 },
    );
    await expect.poll(() => balancer.inService().length, patience).toBe(2);
    const load = startLoad({ url: balancer.url, key, writers: 4, retriesMax: Infinity });
    await load.more(20);

    stopped?.process.kill("SIGSTOP");
    await expect.poll(() => balancer.inService(), patience).toEqual([other?.url]);
    await load.more(20);
    stopped?.process.kill("SIGCONT");
    await expect.poll(() => balancer.inService(), patience).toContain(stopped?.url);
    await load.more(20);
    await load.stop();

    expect(load.failures).toEqual([]);
    expect(await load.expectStored(other?.url)).toBeGreaterThan(0);
    expect(await listWrongTotals(database)).toEqual([]);
  },
);
