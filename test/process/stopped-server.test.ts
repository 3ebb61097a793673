// One of two servers stops answering for a while inside a transaction, as by SIGSTOP: the balancer
// turns to the other. That one takes writes at once, and those to locked sessions after a while.
// Nothing acknowledged is lost or done twice, also when the stopped server goes on.

import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import type { Database } from "../../src/postgres/database.ts";
import { startBalancer } from "../support/balancer.ts";
import { createTestDatabase } from "../support/database.ts";
import { type Server, serve } from "../support/deployment.ts";
import { printFinding } from "../support/findings.ts";
import { givenAKey } from "../support/keys.ts";
import { listWrongTotals, startLoad } from "../support/load.ts";
import { patience } from "../support/patience.ts";
import { givenAProject } from "../support/project.ts";

/** STOP_SECONDS makes it longer. */
const stopSeconds = Number(process.env["STOP_SECONDS"] ?? 20);

test(
  "a server that stops for a while loses and doubles nothing, and holds up no other writes",
  { timeout: stopSeconds * 1_000 + 300_000 },
  async () => {
    const testDatabase = await createTestDatabase();
    onTestFinished(() => testDatabase.drop());
    const { url: databaseUrl, database } = testDatabase;
    const project = await givenAProject(database);
    const { secret: key } = await givenAKey(database, project, { kind: "project" });
    const [stopped, other] = [await serve(databaseUrl), await serve(databaseUrl)];
    const balancer = await startBalancer([stopped.url, other.url], { answerMsMax: 5_000 });
    await expect.poll(() => balancer.inService().length, patience).toBe(2);
    const load = startLoad({ url: balancer.url, key, writers: 4, retriesMax: Infinity });
    await load.more(20);

    const locked = await stopInsideATransaction(stopped, () =>
      listLocked(database, project.projectId),
    );
    const stoppedAtMs = performance.now();
    const others = startLoad({ url: other.url, key, writers: 2, retriesMax: 0 });
    const writing = Promise.all(
      locked.map((session_id) =>
        writeUntilStored(other, { key, session_id, event_id: createUuid(), source: "locked" }),
      ),
    );
    await expect.poll(() => balancer.inService(), patience).toEqual([other.url]);
    await others.more(20);
    let isOver = false;
    const going = writing.then((each) => ({ seconds: Math.max(...each), isOver }));
    await delay(stopSeconds * 1_000 - (performance.now() - stoppedAtMs));
    isOver = true;
    const writesMeanwhile = others.acknowledged();
    stopped.process.kill("SIGCONT");
    await expect.poll(() => balancer.inService(), patience).toContain(stopped.url);
    await load.more(20);
    await Promise.all([load.stop(), others.stop()]);

    expect([...load.failures, ...others.failures]).toEqual([]);
    const { seconds, isOver: hasWaited } = await going;
    expect(hasWaited, `writes to locked sessions took ${seconds} s`).toBe(false);
    const events = await load.expectStored(other.url);
    const otherEvents = await others.expectStored();
    expect(await listWrongTotals(database)).toEqual([]);
    printFinding({
      fault: "a server stopped",
      seconds: stopSeconds,
      writesMeanwhile,
      events: events + otherEvents,
      remark: `locked sessions took writes after ${Math.ceil(seconds)} s`,
    });
  },
);

type Event = {
  readonly key: string;
  readonly event_id: string;
  readonly session_id: string;
  readonly source: string;
};

/** Stops a server while a transaction of it has sessions locked; returns their ids. */
async function stopInsideATransaction(
  { process }: Server,
  listLockedNow: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const deadline = Date.now() + patience.timeout;
  while (Date.now() < deadline) {
    process.kill("SIGSTOP");
    // Statements that run have ended by then, and the other server's transactions too.
    await delay(300);
    const locked = await listLockedNow();
    if (locked.length > 0) {
      await delay(300);
      const still = (await listLockedNow()).filter((id) => locked.includes(id));
      if (still.length > 0) return still;
    }
    process.kill("SIGCONT");
    await delay(Math.random() * 100);
  }
  throw new Error("the server was never stopped inside a transaction");
}

async function listLocked(database: Database, projectId: string): Promise<readonly string[]> {
  const sql = database.sql();
  const rows = await sql<{ id: string }[]>`
    select session_id as id
    from session_totals
    where project_id = ${projectId} and session_id not in (
      select session_id
      from session_totals
      where project_id = ${projectId}
      for update skip locked)`;
  return rows.map(({ id }) => id);
}

/** Writes an event to a session until it is acknowledged; returns the seconds that it took. */
async function writeUntilStored({ url }: Server, event: Event): Promise<number> {
  const beganAtMs = performance.now();
  const { key, ...fields } = event;
  for (;;) {
    const response = await fetch(`${url}/events`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ event: { ...fields, event_type: "tool", inputs: {} } }),
    });
    await response.arrayBuffer();
    if (response.status === 200) return (performance.now() - beganAtMs) / 1_000;
    expect([503, 504]).toContain(response.status);
  }
}
