// A worker of Citus is killed under writes and its synchronous standby takes its place: projects of
// the other worker go on, those of the killed one get 503 until then, and nothing acknowledged is
// lost or doubled. Skipped where CITUS_BINARIES is not set.

import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/postgres/database.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import {
  type CitusNode,
  givenAKeyOn,
  killNode,
  query,
  skipWithoutCitusBinaries,
  startCitusNodes,
} from "../support/citus-nodes.ts";
import { serve, terminate } from "../support/deployment.ts";
import { listWrongTotals, type Load, startLoad } from "../support/load.ts";
import { patience } from "../support/patience.ts";

test(
  "a worker of Citus fails over and loses nothing acknowledged; the other worker's projects go on",
  { timeout: 300_000 },
  async (context) => {
    skipWithoutCitusBinaries(context);
    const nodes = await startCitusNodes();
    const { coordinator } = nodes;
    const [failing, other] = nodes.workers;
    const database = openDatabase({ url: coordinator.url });
    onTestFinished(() => database.close());
    await migrate(database);
    const keysOn = async (worker: CitusNode) => [
      await givenAKeyOn(database, worker),
      await givenAKeyOn(database, worker),
    ];
    const [keysOfFailing, keysOfOther] = [await keysOn(failing), await keysOn(other)];
    const standby = await nodes.addStandby(failing);
    const server = await serve(coordinator.url);
    const loadOf = (retriesMax: number) => (key: string) =>
      startLoad({ url: server.url, key, writers: 2, retriesMax });
    const interrupted = keysOfFailing.map(loadOf(Infinity));
    // Each of their calls has one try.
    const goingOn = keysOfOther.map(loadOf(0));
    const all = [...interrupted, ...goingOn];
    await more(all, 20);

    await killNode(failing);
    await more(goingOn, 20);
    for (const { retries } of interrupted) {
      await expect.poll(() => retries.length, patience).toBeGreaterThan(4);
    }
    await query(standby, (sql) => sql`select pg_promote(true)`);
    await query(
      coordinator,
      (sql) => sql`
        select citus_update_node(nodeid, ${standby.host}, ${standby.port})
        from pg_dist_node
        where nodeport = ${failing.port}`,
    );
    await more(all, 20);
    await Promise.all(all.map((load) => load.stop()));
    // Commits that were prepared on a worker that could not be told of their end.
    await query(coordinator, (sql) => sql`select recover_prepared_transactions()`);

    expect(all.flatMap(({ failures }) => failures)).toEqual([]);
    expect(new Set(interrupted.flatMap(causesOf))).toEqual(new Set([503]));
    for (const load of all) expect(await load.expectStored()).toBeGreaterThan(0);
    expect(await listWrongTotals(database)).toEqual([]);
    expect(await terminate(server.process)).toBe(0);
  },
);

const causesOf = ({ retries }: Load) => retries.map(({ cause }) => cause);

/** Waits until each load has this many further acknowledged writes. */
async function more(loads: readonly Load[], writes: number): Promise<void> {
  await Promise.all(loads.map((load) => load.more(writes)));
}
