// Two servers on one database: a key that is revoked through one is refused by the other, also when
// the other hears no notification. Source: docs/decisions.md, 32.

import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { LocalProject } from "../../src/controlplane/projects/local-projects.ts";
import { createOrgKey } from "../../src/commands/credentials.ts";
import { createTestDatabase, cutListeners } from "../support/database.ts";
import type { TestDatabase } from "../support/database.ts";
import { type Server, serve } from "../support/deployment.ts";
import { givenAProject } from "../support/project.ts";
import { patience } from "../support/patience.ts";
import { run } from "../support/process.ts";
import { skipWithoutPooler, startPooler } from "../support/pooler.ts";

const timeoutMs = 300_000;
/** What docs/decisions.md, 32, promises. */
const revocationMsMax = 60_000;

let testDatabase: TestDatabase;
let project: LocalProject;
let dataPlaneKey: string;

beforeEach(async () => {
  const own = await createTestDatabase();
  onTestFinished(() => own.drop());
  testDatabase = own;
  project = await givenAProject(own.database);
  dataPlaneKey = await createOrgKey(own.database, project.orgId, "data_plane_api_key");
});

const keysPath = () => `/v1/projects/${project.projectId}/ingestion_api_keys`;

async function createKey({ url }: Server): Promise<{ key_id: string; key_value: string }> {
  const response = await fetch(url + keysPath(), {
    method: "POST",
    headers: { authorization: `Bearer ${dataPlaneKey}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "of two servers" }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: { key_id: string; key_value: string } }).data;
}

async function revokeKey({ url }: Server, keyId: string): Promise<void> {
  const response = await fetch(`${url}${keysPath()}/${keyId}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${dataPlaneKey}` },
  });
  await response.arrayBuffer();
  expect(response.status).toBe(200);
}

async function statusWith({ url }: Server, key: string): Promise<number> {
  const response = await fetch(`${url}/session/start`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ session: { session_name: "s", source: "test" } }),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Revokes a key that both servers remember, through one, and waits until the other refuses it. */
async function expectRevocationToReach(here: Server, there: Server): Promise<void> {
  const { key_id: keyId, key_value: key } = await createKey(here);
  expect([await statusWith(here, key), await statusWith(there, key)]).toEqual([200, 200]);

  await revokeKey(here, keyId);

  expect(await statusWith(here, key)).toBe(404);
  await expect
    .poll(() => statusWith(there, key), { timeout: revocationMsMax, interval: 50 })
    .toBe(404);
}

describe("a key revoked through one server", { timeout: timeoutMs }, () => {
  test("is refused by the other, which has read how far, until both leave", async () => {
    const [here, there] = [await serve(testDatabase.url), await serve(testDatabase.url)];

    await expectRevocationToReach(here, there);

    await expect
      .poll(() => registeredServers(), patience)
      .toEqual([
        { name: expect.stringContaining(`pid ${here.process.pid}`) as string, isUpToDate: true },
        { name: expect.stringContaining(`pid ${there.process.pid}`) as string, isUpToDate: true },
      ]);
    for (const { process } of [here, there]) process.kill("SIGTERM");
    await Promise.all([here.process.ended(), there.process.ended()]);
    expect(await registeredServers()).toEqual([]);
  });

  test("is refused by the other while its listening connection is cut over and over", async () => {
    const [here, there] = [await serve(testDatabase.url), await serve(testDatabase.url)];
    let cuts = 0;
    let isCutting = true;
    const cut = async () => {
      while (isCutting) {
        cuts += await cutListeners(testDatabase.database);
        await delay(20);
      }
    };
    const cutting = cut();
    onTestFinished(async () => {
      isCutting = false;
      await cutting;
    });
    await expect.poll(() => cuts, patience).toBeGreaterThan(0);

    await expectRevocationToReach(here, there);
  });

  test("is refused by the other, by its poll, where no notification arrives", async () => {
    const here = await serve(testDatabase.url);
    const there = await serve(await startDeafProxy(), "--access-poll-ms", "200");

    await expectRevocationToReach(here, there);
  });

  test("is refused by the other behind a pooler, through which none arrives", async (context) => {
    skipWithoutPooler(context);
    const settings = {
      ignore_startup_parameters: "statement_timeout, idle_in_transaction_session_timeout",
    };
    const url = `${await startPooler(testDatabase.url, settings)}&prepare=false`;
    const flags = ["--access-poll-ms", "200"];
    const [here, there] = [await serve(url, ...flags), await serve(url, ...flags)];

    await expectRevocationToReach(here, there);
  });

  test("is refused by the other, by age, where it neither hears nor polls", async () => {
    const here = await serve(testDatabase.url);
    const flags = ["--access-poll-ms", "30000", "--key-cache-age-ms", "1000"];
    const there = await serve(await startDeafProxy(), ...flags);

    await expectRevocationToReach(here, there);
  });
});

test(
  "a server that cannot listen says so in one line and leaves",
  { timeout: timeoutMs },
  async () => {
    const here = await serve(testDatabase.url);
    const { host, port } = new URL(here.url);

    const words = ["--database-url", testDatabase.url, "--port", port, "--operator-port", "0"];
    const { code, output } = await run("serve", ...words).ended();

    expect(output).toBe(
      `waggle: ${host} is in use: stop what uses it, or choose another port with --port\n`,
    );
    expect(code).toBe(1);
    // Revocations and archives would wait for it.
    const others = (await registeredServers()).filter(
      ({ name }) => !name.endsWith(`pid ${here.process.pid}`),
    );
    expect(others).toEqual([]);
  },
);

async function registeredServers(): Promise<
  readonly { readonly name: string; readonly isUpToDate: boolean }[]
> {
  return testDatabase.database.sql()<{ name: string; isUpToDate: boolean }[]>`
    select
      name,
      change_id = (select max(change_id) from access_changes) as "isUpToDate"
    from servers
    order by started_at`;
}

const notification = "A".charCodeAt(0);

/** Passes everything between a server and the database but notifications; returns its URL. */
async function startDeafProxy(): Promise<string> {
  const target = new URL(testDatabase.url);
  const path = join(target.searchParams.get("host") ?? "", ".s.PGSQL.5432");
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const postgres = connect({ path });
    let unread = Buffer.alloc(0);
    client.on("data", (bytes) => postgres.write(bytes));
    postgres.on("data", (bytes) => {
      unread = Buffer.concat([unread, bytes]);
      // A message is its type, its length without the type, and the rest.
      while (unread.length >= 5 && unread.length > unread.readUInt32BE(1)) {
        const message = unread.subarray(0, 1 + unread.readUInt32BE(1));
        unread = unread.subarray(message.length);
        if (message[0] !== notification) client.write(message);
      }
    });
    for (const [one, other] of [
      [client, postgres],
      [postgres, client],
    ] as const) {
      sockets.add(one);
      // A reset is one way of closing.
      one.on("error", () => undefined).on("close", () => other.destroy());
    }
  });
  await new Promise<void>((settle) => proxy.listen(0, "127.0.0.1", settle));
  onTestFinished(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = proxy.address() as AddressInfo;
  return `postgres://${target.username}@127.0.0.1:${port}${target.pathname}`;
}
