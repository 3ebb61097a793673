// The embedded Temporal as it is: a server on its ports, workflows through a client and a worker,
// kill -9 of the server and of the process that started it.

import { once } from "node:events";
import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "@temporalio/client";
import { defineSearchAttributeKey } from "@temporalio/common";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { startTemporal, type EmbeddedTemporal } from "../../src/embedded/temporal.ts";
import { openConnection } from "../../src/workflows/namespace.ts";
import { searchAttributeNames } from "../../src/workflows/search-attributes.ts";
import { sayMissing, skipTestsWhere } from "../clients/environment.ts";
import { findGuards, givenAnEmptyDataFolder, processesOf } from "../support/process.ts";
import { startTestTemporal } from "../support/temporal.ts";
import { temporalFrom } from "../support/temporal-server.ts";
import { activities } from "./temporal-activities.ts";
import type { greetLater } from "./temporal-workflows.ts";
import { patience } from "../support/patience.ts";

const title = "the embedded Temporal";
const taskQueue = "test";
const modulePath = new URL("../../src/embedded/temporal.ts", import.meta.url).href;
const scopeKey = defineSearchAttributeKey("WaggleScope", "KEYWORD");

let missing: string | undefined;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger("ERROR") });
  // Where the shared server runs, the program is there.
  const shared = await startTestTemporal();
  ({ missing } = shared);
  sayMissing(title, shared);
  if (shared.missing === undefined) await shared.stop();
}, 600_000);
skipTestsWhere(() => missing);

async function start(
  folder: string,
  onRestart: (cause: string) => void = () => undefined,
): Promise<EmbeddedTemporal> {
  const { signal } = new AbortController();
  const server = await startTemporal({ ...temporalFrom(), folder, signal, onRestart });
  onTestFinished(() => server.stop());
  return server;
}

function clientOf({ address, namespace }: EmbeddedTemporal): Client {
  const connection = openConnection(address);
  onTestFinished(() => connection.close());
  return new Client({ connection, namespace });
}

async function startWorker({ address, namespace }: EmbeddedTemporal): Promise<void> {
  const connection = await NativeConnection.connect({ address });
  const workflowsPath = new URL("./temporal-workflows.ts", import.meta.url).pathname;
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowsPath,
    activities,
  });
  const running = worker.run();
  onTestFinished(async () => {
    worker.shutdown();
    await running;
    await connection.close();
  });
}

const begin = (client: Client, workflowId: string) =>
  client.workflow.start<typeof greetLater>("greetLater", {
    taskQueue,
    workflowId,
    args: ["bee"],
    typedSearchAttributes: [{ key: scopeKey, value: "project:1" }],
  });

describe("startTemporal", () => {
  test("goes on with a workflow after a kill -9 of the server, on the same ports", async () => {
    const folder = await givenAnEmptyDataFolder();
    const causes: string[] = [];
    const server = await start(folder, (cause) => causes.push(cause));
    const { address, uiUrl, pid } = server;
    const client = clientOf(server);
    await startWorker(server);
    const handle = await begin(client, "greeting");

    process.kill(pid, "SIGKILL");
    await vi.waitUntil(() => server.pid !== pid, patience);
    await vi.waitFor(() => handle.signal("goOn"), patience);

    expect(await handle.result()).toBe("hello bee");
    expect({ address: server.address, uiUrl: server.uiUrl, causes }).toEqual({
      address,
      uiUrl,
      causes: ["SIGKILL"],
    });
    expect((await fetch(uiUrl)).status).toBe(200);
  });

  test("finds earlier workflows at the next start, on the same ports", async () => {
    const folder = await givenAnEmptyDataFolder();
    const first = await start(folder);
    await begin(clientOf(first), "earlier");
    await first.stop();

    const second = await start(folder);

    const handle = clientOf(second).workflow.getHandle("earlier");
    expect((await handle.describe()).status.name).toBe("RUNNING");
    expect([second.address, second.uiUrl]).toEqual([first.address, first.uiUrl]);
  });

  test("leaves no process when it is stopped, nor when its start is cut off", async () => {
    const folder = await givenAnEmptyDataFolder();
    const server = await start(folder);
    const running = await processesOf(folder);
    const guards = await findGuards(folder);
    await server.stop();
    await server.stop();
    expect(running.toSorted()).toEqual([server.pid, ...guards].toSorted());
    expect(guards).toHaveLength(1);
    expect(await processesOf(folder)).toEqual([]);

    const stopping = new AbortController();
    const cutOff = startTemporal({
      ...temporalFrom(),
      folder,
      signal: stopping.signal,
      onRestart: () => undefined,
    });
    const fault = expect(cutOff).rejects.toThrow("stopped by a test");
    await vi.waitUntil(async () => (await processesOf(folder)).length > 0, patience);
    stopping.abort(new Error("stopped by a test"));
    await fault;

    expect(await processesOf(folder)).toEqual([]);
  });

  test("leaves no process when the process that started it is killed", async () => {
    const folder = await givenAnEmptyDataFolder();

    await startAndKill(folder);

    await expect.poll(() => processesOf(folder), patience).toEqual([]);
  });

  test("stops the server that a killed process left, and takes over its ports", async () => {
    const folder = await givenAnEmptyDataFolder();
    const orphan = await startAndKill(folder, { isGuardKilled: true });
    expect(await processesOf(folder)).toEqual([orphan.pid]);

    const server = await start(folder);

    const guards = await findGuards(folder);
    expect((await processesOf(folder)).toSorted()).toEqual([server.pid, ...guards].toSorted());
    expect(server.pid).not.toBe(orphan.pid);
    expect(server.address).toBe(orphan.address);
  });

  test("takes other ports where its own are in use, and says so of given ones", async () => {
    const one = await start(await givenAnEmptyDataFolder());
    const port = Number(one.address.split(":")[1]);
    const uiPort = Number(new URL(one.uiUrl).port);
    const folder = await givenAnEmptyDataFolder();
    const { signal } = new AbortController();
    const options = { ...temporalFrom(), folder, signal, onRestart: () => undefined };

    await expect(startTemporal({ ...options, port })).rejects.toThrow(`127.0.0.1:${port}`);
    const before = await start(folder);
    await before.stop();
    await writeFile(join(folder, "temporal/ports.json"), JSON.stringify({ port, uiPort }));
    const other = await start(folder);

    expect(other.address).not.toBe(one.address);
    expect(other.uiUrl).not.toBe(one.uiUrl);
  });

  test("registers the search attributes in a database that lacks them", async () => {
    const folder = await givenAnEmptyDataFolder();
    const first = await start(folder);
    const connection = openConnection(first.address);
    await connection.operatorService.removeSearchAttributes({
      namespace: first.namespace,
      searchAttributes: [...searchAttributeNames],
    });
    await connection.close();
    await first.stop();

    const client = clientOf(await start(folder));
    await begin(client, "found");

    const query = "WaggleScope = 'project:1'";
    await vi.waitUntil(async () => (await client.workflow.count(query)).count === 1, patience);
  });

  test("shows the end of the server's log when it does not start", async () => {
    const folder = await givenAnEmptyDataFolder();
    await mkdir(join(folder, "temporal/temporal.db"), { recursive: true });

    await expect(start(folder)).rejects.toThrow(
      /Temporal did not start \(.*temporal\.log\):\n.*\w/,
    );
  });
});

/** Starts a server in a process of its own and kills that process, after the guard if asked to. */
async function startAndKill(
  folder: string,
  { isGuardKilled = false } = {},
): Promise<{ pid: number; address: string }> {
  const options = JSON.stringify({ ...temporalFrom(), folder });
  const script = `
    const { startTemporal } = await import(${JSON.stringify(modulePath)});
    const { signal } = new AbortController();
    const server = await startTemporal({
      ...${options}, signal, onProgress() {}, onRestart() {},
    });
    console.log(JSON.stringify({ pid: server.pid, address: server.address }));
    setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const printed = await new Promise<string>((settle, fail) => {
    child.stdout.setEncoding("utf8").once("data", settle);
    child.once("exit", (code) => fail(new Error(`it ended with ${code}`)));
  });
  for (const guard of isGuardKilled ? await findGuards(folder) : []) {
    process.kill(guard, "SIGKILL");
    await vi.waitUntil(async () => (await findGuards(folder)).length === 0, patience);
  }
  // Its command names the folder, so it must be gone before the folder's processes are listed.
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
  return JSON.parse(printed) as { pid: number; address: string };
}
