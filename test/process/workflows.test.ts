// Workflows beside the service and in a process of their own, with and without a Temporal.

import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { findRunningTemporal } from "../../src/embedded/temporal-folder.ts";
import { sayMissing, skipTestsWhere } from "../clients/environment.ts";
import { createTestDatabase } from "../support/database.ts";
import { terminate } from "../support/deployment.ts";
import { findFreePort } from "../support/free-port.ts";
import { patience } from "../support/patience.ts";
import { givenADataFolder, processesOf, readCredentials, run, start } from "../support/process.ts";
import { startTestTemporal } from "../support/temporal.ts";

let missing: string | undefined;

beforeAll(async () => {
  // Where the shared server runs, the program is there.
  const shared = await startTestTemporal();
  ({ missing } = shared);
  sayMissing("workflows in processes", shared);
  if (shared.missing === undefined) await shared.stop();
}, 600_000);

async function answerOf(port: number, path: string) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return [response.status, await response.json()];
}

async function metricsOf(port: number): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}

describe("waggle start", () => {
  skipTestsWhere(() => missing);

  test("is ready before Temporal, says where to watch it, and leaves nothing behind", async () => {
    const folder = await givenADataFolder();
    const service = await start(folder, "--workflows", "on", "--log-level", "info");

    const uiUrl = await vi.waitUntil(
      () => /^Temporal's web page, .*: (http:\S+)$/m.exec(service.output())?.[1],
      patience,
    );
    expect(service.output().indexOf("waggle is ready on")).toBeLessThan(
      service.output().indexOf("Temporal's web page"),
    );
    const page = await fetch(uiUrl);
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html"]);
    await vi.waitUntil(
      () => service.output().includes("Temporal is reached; workflows run"),
      patience,
    );

    service.kill("SIGTERM");
    expect((await service.ended()).code).toBe(0);
    expect(await processesOf(folder)).toEqual([]);
  }, 300_000);

  test("has doctor name a frozen Temporal, and says what its own end waits for", async () => {
    const folder = await givenADataFolder();
    const service = await start(folder, "--workflows", "on", "--log-level", "info");
    await vi.waitUntil(
      () => service.output().includes("Temporal is reached; workflows run"),
      patience,
    );
    const words = ["doctor", "--data", folder, "--port", "0"];
    const { pid = 0, address } = (await findRunningTemporal(folder)) ?? {};

    const well = await run(...words).ended();
    process.kill(pid, "SIGSTOP");
    const frozen = await run(...words).ended();

    const where = `${address}, namespace default`;
    expect(well.output).toContain(`ok    temporal: embedded, ${where}: answers\n`);
    expect(frozen.output).toContain(`FAIL  temporal: embedded (pid ${pid}), ${where}: Deadline`);
    expect(frozen.output).toContain(
      `its log is ${join(folder, "temporal.log")}; the service starts`,
    );

    service.kill("SIGTERM");
    const { code, output } = await service.ended();

    expect(code).toBe(0);
    expect(output).toContain("still stopping: the worker waits for its activities and Temporal");
    expect(output).toContain("still stopping: Temporal has not ended yet");
    expect(output).not.toContain("it is started again");
  }, 300_000);

  test("stops at once when a signal comes while Temporal is starting", async () => {
    const folder = await givenADataFolder();
    const service = await start(folder, "--workflows", "on");

    service.kill("SIGTERM");

    expect((await service.ended()).code).toBe(0);
    expect(await processesOf(folder)).toEqual([]);
  }, 300_000);

  test("stops without an error when a signal comes while the worker is being made", async () => {
    const folder = await givenADataFolder();
    const service = await start(folder, "--workflows", "on", "--log-level", "info");
    // The worker's code is bundled meanwhile, which takes seconds.
    await vi.waitUntil(
      () => service.output().includes("Temporal is reached; workflows run"),
      patience,
    );

    service.kill("SIGTERM");

    const { code, output } = await service.ended();
    expect(code).toBe(0);
    expect(output).not.toContain('"level":50');
    expect(await processesOf(folder)).toEqual([]);
  }, 300_000);
});

describe("waggle start without a Temporal", () => {
  test("makes the sandbox ready before the first metric asks for it", async () => {
    const folder = await givenADataFolder();
    const flags = ["--workflows", "on", "--temporal-cli-path", "/nowhere/temporal"];
    const service = await start(folder, ...flags, "--log-level", "info");

    await vi.waitUntil(
      () => service.output().includes("Python's sandbox is ready to start"),
      patience,
    );

    const { url, project_api_key: key } = await readCredentials(folder);
    const response = await fetch(`${url}/v1/metrics`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "one", type: "PYTHON", criteria: "result = 1" }),
    });
    expect(response.status).toBe(200);
  }, 300_000);

  test("says so once, and works", async () => {
    const folder = await givenADataFolder();
    const service = await start(
      folder,
      "--workflows",
      "on",
      "--temporal-cli-path",
      "/nowhere/temporal",
    );

    await vi.waitUntil(() => service.output().includes("no Temporal: "), patience);

    expect(service.output()).toContain("TEMPORAL_CLI_PATH names /nowhere/temporal");
    expect(service.output()).toContain("everything else works; evaluators, archives");
    const { url, project_api_key: key } = await readCredentials(folder);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const response = await fetch(`${url}/events`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ event: { event_type: "tool", event_name: "a", inputs: {} } }),
    });
    expect(response.status).toBe(200);
  }, 300_000);
});

describe("waggle worker", () => {
  test("needs a database and a Temporal by name", async () => {
    const { code, output } = await run("worker").ended();

    expect(code).toBe(1);
    expect(output).toContain("worker needs DATABASE_URL and TEMPORAL_ADDRESS");
  });

  test("waits for Temporal with one line, and ends when it is told to", async () => {
    const own = await createTestDatabase();
    const worker = run("worker", "--database-url", own.url, "--temporal-address", "127.0.0.1:1");
    await vi.waitUntil(() => worker.output().includes("Temporal cannot be reached"), patience);
    // Long enough for three more looks.
    await new Promise((settle) => setTimeout(settle, 3_500));

    worker.kill("SIGTERM");
    const { code, output } = await worker.ended();

    expect(code).toBe(0);
    expect(output).toContain("waggle works on the workflows of 127.0.0.1:1, namespace default");
    expect(output.match(/cannot be reached/g)).toHaveLength(1);
    await own.drop();
  }, 300_000);

  test("is alive on the operator port, and not ready before Temporal", async () => {
    const own = await createTestDatabase();
    const port = await findFreePort();
    const worker = run(
      "worker",
      "--database-url",
      own.url,
      "--temporal-address",
      "127.0.0.1:1",
      "--operator-port",
      String(port),
    );
    await vi.waitUntil(() => worker.output().includes("waggle works on"), patience);

    expect(await answerOf(port, "/healthz")).toEqual([200, { status: "ok" }]);
    const unavailable = { status: "unavailable", missing: ["Temporal"] };
    expect(await answerOf(port, "/readyz")).toEqual([503, unavailable]);
    expect(await metricsOf(port)).toContain("waggle_workflows_running 0");

    expect(await terminate(worker)).toBe(0);
    await own.drop();
  }, 300_000);

  test("is ready once it takes work from Temporal", async ({ skip }) => {
    const temporal = await startTestTemporal();
    if (temporal.missing !== undefined) return skip(temporal.missing);
    const own = await createTestDatabase();
    const port = await findFreePort();
    const worker = run(
      "worker",
      "--database-url",
      own.url,
      "--operator-port",
      String(port),
      "--temporal-address",
      temporal.address,
      "--temporal-namespace",
      temporal.namespace,
    );
    await vi.waitUntil(() => worker.output().includes("waggle works on"), patience);

    await expect.poll(() => answerOf(port, "/readyz"), patience).toEqual([200, { status: "ok" }]);
    expect(await metricsOf(port)).toContain("waggle_workflows_running 1");

    expect(await terminate(worker)).toBe(0);
    await own.drop();
    await temporal.stop();
  }, 300_000);
});
