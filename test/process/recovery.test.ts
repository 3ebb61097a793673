// `waggle start` when one of its processes is killed: the supervisor restarts the service, and
// neither Postgres nor Temporal outlives the service or the supervisor.

import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { request } from "node:http";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { sayMissing } from "../clients/environment.ts";
import { findFreePort } from "../support/free-port.ts";
import { patience } from "../support/patience.ts";
import {
  findGuards,
  findPostmaster,
  findServicePid,
  givenADataFolder,
  givenAnEmptyDataFolder,
  processesOf,
  readCredentials,
  run,
  runProgram,
  start,
  startOnce,
} from "../support/process.ts";
import type { Process } from "../support/process.ts";
import { startTestTemporal } from "../support/temporal.ts";

const timeoutMs = 300_000;
const processesUrl = new URL("../../src/embedded/processes.ts", import.meta.url).href;
/** For a machine that has much else to do. */
const waitMs = { ...patience, interval: 50 };

/** With Temporal where its program is there. */
let workflows: "on" | "off" = "on";

beforeAll(async () => {
  const shared = await startTestTemporal();
  sayMissing("recovery with Temporal", shared);
  if (shared.missing === undefined) await shared.stop();
  else workflows = "off";
}, 600_000);

/** Sends an event and returns a function that tells whether it can be read. */
async function sendEvent(folder: string): Promise<() => Promise<boolean>> {
  const { url, project_api_key: key } = await readCredentials(folder);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = JSON.stringify({ event: { event_type: "tool", inputs: { question: "who?" } } });
  const response = await fetch(`${url}/events`, { method: "POST", headers, body });
  expect(response.status).toBe(200);
  const { event_id: eventId } = (await response.json()) as { event_id: string };
  return async () => {
    const now = await readCredentials(folder);
    const answer = await fetch(`${now.url}/v1/events/${eventId}`, { headers });
    return answer.status === 200;
  };
}

async function isReady(folder: string): Promise<boolean> {
  const { url } = await readCredentials(folder);
  return fetch(`${url}/readyz`).then(
    ({ status }) => status === 200,
    () => false,
  );
}

async function startWithWorkflows(
  startIt: typeof start,
  folder: string,
): Promise<{ readonly service: Process; readonly pid: number }> {
  const service = await startIt(folder, "--workflows", workflows);
  const isTemporalUp = () => service.output().includes("Temporal is reached; workflows run");
  await vi.waitUntil(() => workflows === "off" || isTemporalUp(), waitMs);
  return { service, pid: (await findServicePid(folder)) ?? 0 };
}

async function waitForNoProcess(folder: string): Promise<void> {
  await expect.poll(() => processesOf(folder), waitMs).toEqual([]);
}

describe("a service that crashes", { timeout: timeoutMs }, () => {
  test("is started again on its port, with every acknowledged event", async () => {
    const folder = await givenADataFolder();
    const port = await findFreePort();
    const supervisor = await start(folder, "--port", String(port));
    const isEventThere = await sendEvent(folder);
    const pid = (await findServicePid(folder)) ?? 0;
    const { url } = await readCredentials(folder);

    process.kill(pid, "SIGKILL");
    await vi.waitUntil(() => supervisor.output().match(/ready on/g)?.length === 2, waitMs);

    expect(await findServicePid(folder)).not.toBe(pid);
    expect((await readCredentials(folder)).url).toBe(url);
    expect(await isEventThere()).toBe(true);
    expect(supervisor.output()).toMatch(
      /"cause":"SIGKILL","crashes":1,"pauseMs":\d+,"msg":"the service crashed; starting it again"/,
    );
    supervisor.kill("SIGTERM");
    expect((await supervisor.ended()).code).toBe(0);
    // The guard of the first Postgres looks for its end every second.
    await waitForNoProcess(folder);
  });

  test("together with Postgres is started again with every acknowledged event", async () => {
    const folder = await givenADataFolder();
    const port = await findFreePort();
    const supervisor = await start(folder, "--port", String(port));
    const isEventThere = await sendEvent(folder);

    process.kill((await findServicePid(folder)) ?? 0, "SIGKILL");
    process.kill((await findPostmaster(folder)) ?? 0, "SIGKILL");
    await vi.waitUntil(() => supervisor.output().match(/ready on/g)?.length === 2, waitMs);

    expect(await isEventThere()).toBe(true);
  });

  test.each(["SIGKILL", "SIGABRT"] as const)(
    "by %s without a supervisor leaves no process behind, and a folder to start on",
    async (signal) => {
      const folder = await givenADataFolder();
      const { service, pid } = await startWithWorkflows(startOnce, folder);
      expect(pid).toBe(service.pid);
      const isEventThere = await sendEvent(folder);
      expect((await processesOf(folder)).length).toBeGreaterThan(1);

      service.kill(signal);

      await waitForNoProcess(folder);
      await start(folder);
      expect(await isEventThere()).toBe(true);
    },
  );

  test("while Postgres is being made leaves no process behind", async () => {
    const folder = await givenAnEmptyDataFolder();
    const cutOff = run("start-once", "--data", folder, "--port", "0", "--operator-port", "0");
    const hasInitdb = async () => (await processesOf(folder)).length > 1;
    await vi.waitUntil(hasInitdb, { ...patience, interval: 5 });

    cutOff.kill("SIGKILL");

    await waitForNoProcess(folder);
    await start(folder);
  });
});

describe("a supervisor that is killed", { timeout: timeoutMs }, () => {
  test("takes everything with it, in order, and leaves a folder to start on", async () => {
    const folder = await givenADataFolder();
    const { service: supervisor, pid } = await startWithWorkflows(start, folder);
    expect(pid).not.toBe(supervisor.pid);
    const isEventThere = await sendEvent(folder);

    supervisor.kill("SIGKILL");

    await waitForNoProcess(folder);
    expect(supervisor.output()).toContain("stopping: the supervisor has ended");
    await start(folder);
    expect(await isEventThere()).toBe(true);
  });

  test("takes a service with it that is still starting", async () => {
    const folder = await givenAnEmptyDataFolder();
    const supervisor = run("start", "--data", folder, "--port", "0", "--operator-port", "0");
    await vi.waitUntil(async () => (await processesOf(folder)).length > 1, {
      ...patience,
      interval: 5,
    });

    supervisor.kill("SIGKILL");

    await waitForNoProcess(folder);
    await start(folder);
  });
});

describe("the guard of a server", { timeout: timeoutMs }, () => {
  test("that is killed itself does no harm", async () => {
    const folder = await givenADataFolder();
    const supervisor = await start(folder);
    const isEventThere = await sendEvent(folder);
    const guards = await findGuards(folder);
    expect(guards).toHaveLength(1);

    for (const pid of guards) process.kill(pid, "SIGKILL");

    await vi.waitUntil(async () => (await findGuards(folder)).length === 0, waitMs);
    expect(await isEventThere()).toBe(true);
    supervisor.kill("SIGTERM");
    const { code, output } = await supervisor.ended();
    expect(code).toBe(0);
    expect(output).not.toContain("Postgres ended by itself");
    expect(await processesOf(folder)).toEqual([]);
  });
});

describe("the guard of a program", { timeout: timeoutMs }, () => {
  test("that does not heed the first signal ends it by force", async () => {
    // Names the program in its command line.
    const folder = await givenAnEmptyDataFolder();
    const parent = runGuarding(folder, "process.on('SIGTERM', () => console.log('not now'))");
    await vi.waitUntil(() => parent.output().includes("running"), waitMs);
    const [guard] = await findGuards(folder);

    parent.kill("SIGKILL");

    await waitForNoProcess(folder);
    expect(guard).toBeDefined();
    expect(parent.output()).toContain("not now");
  });
});

/** Runs a process that starts a guarded Node on some code and does nothing more. */
function runGuarding(folder: string, code: string): Process {
  const script = `
    const { spawnGuarded } = await import(${JSON.stringify(processesUrl)});
    const code = ${JSON.stringify(`${code}; console.log("running"); setInterval(() => {}, 1_000)`)};
    spawnGuarded(process.execPath, ["--eval", code, ${JSON.stringify(folder)}], {
      ending: { signal: "TERM", force: "KILL", seconds: 1 },
      stdio: ["ignore", 1, 2],
    });`;
  return runProgram(process.execPath, ["--input-type=module", "--eval", script]);
}

describe("an orderly end", { timeout: timeoutMs }, () => {
  test("of the service ends its supervisor with its code", async () => {
    const folder = await givenADataFolder();
    const supervisor = await start(folder);

    process.kill((await findServicePid(folder)) ?? 0, "SIGTERM");

    const { code, output } = await supervisor.ended();
    expect(code).toBe(0);
    expect(output).not.toContain("starting it again");
    expect(await processesOf(folder)).toEqual([]);
  });

  test("does not wait for running requests once it is asked for twice", async () => {
    const folder = await givenADataFolder();
    // Longer than the test may take.
    const supervisor = await start(folder, "--drain-timeout-ms", "600000");
    const { url, project_api_key: key } = await readCredentials(folder);
    const running = request(`${url}/events`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-length": 10 },
    });
    running.on("error", () => undefined).write("{");
    await vi.waitUntil(() => isReady(folder), waitMs);

    // The same signal within a second is the same wish.
    const asking = setInterval(() => supervisor.kill("SIGINT"), 300);
    onTestFinished(() => clearInterval(asking));

    expect((await supervisor.ended()).code).toBe(0);
    expect(await processesOf(folder)).toEqual([]);
  });
});

describe("a start that cannot succeed", { timeout: timeoutMs }, () => {
  test("because of a setting ends at once with its exit code", async () => {
    const folder = await givenAnEmptyDataFolder();

    const { code, output } = await run("start", "--data", folder, "--port", "x").ended();

    expect(code).toBe(2);
    expect(output.match(/WAGGLE_PORT/g)).toHaveLength(1);
    expect(output).not.toContain("starting it again");
  });

  test.each([
    { name: "a file", path: fileURLToPath(import.meta.url), want: "is a file or lies in one" },
    {
      name: "in a file",
      path: `${fileURLToPath(import.meta.url)}/x`,
      want: "is a file or lies in",
    },
    { name: "in a folder of the system's", path: "/proc/x", want: "cannot be used: ENOENT" },
  ])("because its data folder is $name says so at once", async ({ path, want }) => {
    const { code, output } = await run("start-once", "--data", path).ended();

    expect({ code, output }).toEqual({
      code: 1,
      output: expect.stringContaining(`waggle: ${path} ${want}`) as string,
    });
  });

  test("because its port is in use ends at once with its exit code", async () => {
    const folder = await givenADataFolder();
    const server = createServer();
    await new Promise<void>((settle) => server.listen(0, "127.0.0.1", settle));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;

    const words = ["--port", String(port), "--operator-port", "0", "--workflows", "off"];
    const { code, output } = await run("start", "--data", folder, ...words).ended();

    expect(code).toBe(1);
    expect(output.match(/is in use/g)).toHaveLength(1);
    expect(output).not.toContain("starting it again");
    expect(await processesOf(folder)).toEqual([]);
  });
});
