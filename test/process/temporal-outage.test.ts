// Temporal is away for a while, under load: two servers answer every call meanwhile, and when it is
// back two workers score each event once.

import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { sayMissing } from "../clients/environment.ts";
import { startBalancer } from "../support/balancer.ts";
import { createTestDatabase } from "../support/database.ts";
import { runWorker, serve, terminate } from "../support/deployment.ts";
import { printFinding } from "../support/findings.ts";
import { givenAKey } from "../support/keys.ts";
import { listWrongTotals, startLoad } from "../support/load.ts";
import { addEvaluator, readScores } from "../support/marked-scores.ts";
import { patience } from "../support/patience.ts";
import { givenAProject } from "../support/project.ts";
import { startOwnTemporal } from "../support/temporal-server.ts";

/** OUTAGE_SECONDS makes it longer. */
const outageSeconds = Number(process.env["OUTAGE_SECONDS"] ?? 10);
/** Time to score the events of the outage, too: a busy machine scores a few dozen a second. */
const scoringMsMax = 240_000 + outageSeconds * 1_000;
const timeout = outageSeconds * 1_000 + 2 * scoringMsMax;

test(
  "Temporal away delays scores, and each event is scored once",
  { timeout },
  async ({ skip }) => {
    const temporal = await startOwnTemporal();
    onTestFinished(() => temporal.stop());
    sayMissing("Temporal away under load", temporal);
    if (temporal.missing !== undefined) return skip(temporal.missing);
    const testDatabase = await createTestDatabase();
    onTestFinished(() => testDatabase.drop());
    const { url: databaseUrl, database } = testDatabase;
    const { secret: key } = await givenAKey(database, await givenAProject(database), {
      kind: "project",
    });
    const servers = await Promise.all([serve(databaseUrl), serve(databaseUrl)]);
    const { url } = await startBalancer(servers.map((server) => server.url));
    const workers = [1, 2].map(() => runWorker(databaseUrl, temporal.server));
    await addEvaluator(url, key);
    const load = startLoad({ url, key, writers: 2, retriesMax: 0, pauseMs: 2_000 });
    const scored = async () => (await readScores(database)).ended;
    await expect.poll(scored, patience).toBeGreaterThan(20);

    const comeBack = await temporal.leave();
    const before = { writes: load.acknowledged(), scores: await scored() };
    await delay(outageSeconds * 1_000);
    const after = { writes: load.acknowledged(), scores: await scored() };
    expect(load.failures).toEqual([]);
    // At least a round of each writer in fifteen seconds.
    expect(after.writes - before.writes).toBeGreaterThan(outageSeconds / 5);
    await comeBack();
    await load.more(20);
    await load.stop();

    expect(load.failures).toEqual([]);
    const events = await load.expectStored();
    await expect.poll(scored, { timeout: scoringMsMax, interval: 200 }).toBe(events);
    expect(await readScores(database)).toEqual({ ended: events, counted: events, right: events });
    expect(await listWrongTotals(database)).toEqual([]);
    // From the 16th retry on, so only in an outage of a minute.
    for (const worker of workers) expect(worker.output()).not.toContain("retried");
    printFinding({
      fault: "Temporal away",
      seconds: outageSeconds,
      writesMeanwhile: after.writes - before.writes,
      events,
      remark: `${after.scores - before.scores} scored meanwhile, all once in the end`,
    });
    const processes = [...workers, ...servers.map((server) => server.process)];
    expect(await Promise.all(processes.map(terminate))).toEqual([0, 0, 0, 0]);
  },
);
