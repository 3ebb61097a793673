// `waggle start` as a person meets it: first start, second start, stop, and starts after a crash.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { findHolder } from "../../src/embedded/data-folder.ts";
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
  skipWithoutTerminals,
  start,
  startOnATerminal,
  startOnce,
} from "../support/process.ts";
import { patience } from "../support/patience.ts";

const timeoutMs = 300_000;

/** Sends an event with a key and returns its id. */
async function sendEvent(url: string, key: string): Promise<string> {
  const response = await fetch(`${url}/events`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ event: { event_type: "tool", inputs: { question: "who?" } } }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { event_id: string }).event_id;
}

async function findPostgres(folder: string): Promise<readonly number[]> {
  const pid = await findPostmaster(folder);
  return pid === undefined ? [] : [pid];
}

async function readEventStatus(url: string, key: string, eventId: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${url}/v1/events/${eventId}`, { headers })).status;
}

describe("the first start", { timeout: timeoutMs }, () => {
  test("writes credentials that only its owner can read and that work", async () => {
    const folder = await givenAnEmptyDataFolder();

    const service = await start(folder);

    const credentials = await readCredentials(folder);
    expect((await stat(join(folder, "credentials.json"))).mode & 0o777).toBe(0o600);
    expect(Object.keys(credentials)).toEqual([
      "url",
      "org_id",
      "dataplane_id",
      "workspace_id",
      "project_id",
      "project_name",
      "project_api_key",
      "ingestion_api_key",
      "control_plane_api_key",
      "data_plane_api_key",
    ]);
    expect(credentials.project_name).toBe("demo");
    expect(service.output()).toContain(`waggle is ready on ${credentials.url}`);
    await sendEvent(credentials.url, credentials.project_api_key);
    await sendEvent(credentials.url, credentials.ingestion_api_key);
  });

  test("prints a curl command that works as it stands, on a terminal", async (context) => {
    await skipWithoutTerminals(context);
    const folder = await givenAnEmptyDataFolder();

    const service = await startOnATerminal(folder);

    await vi.waitUntil(() => /^ {2}curl .*\r\n/m.test(service.output()), patience);
    const command = /^ {2}(curl .*)$/m.exec(service.output())?.[1] ?? "";
    const { stdout } = await promisify(execFile)("sh", ["-c", command]);
    expect(JSON.parse(stdout)).toMatchObject({ success: true });
  });

  test("goes on where neither its output nor its log can be written", async () => {
    const folder = await givenAnEmptyDataFolder();
    const [node, main] = [process.execPath, join(import.meta.dirname, "../../src/main.ts")];
    const words = `start-once --data "${folder}" --port 0 --operator-port 0`;

    runProgram("sh", ["-c", `exec "${node}" "${main}" ${words} > /dev/full 2> /dev/full`]);

    const url = await vi.waitUntil(async () => (await findHolder(folder))?.url, patience);
    const { project_api_key: key } = await readCredentials(folder);
    const eventId = await sendEvent(url, key);
    // A missing path is a warning in the log.
    expect((await fetch(`${url}/v1/nothing`)).status).toBe(404);
    expect(await readEventStatus(url, key, eventId)).toBe(200);
  });

  // A full disk needs a disk; a limit of a file's size, in blocks of 512 bytes, fails likewise.
  test.each([
    { name: "nothing", blocks: 0, want: /^waggle: \S+ cannot be used: EFBIG.*--data\n$/ },
    { name: "too little", blocks: 8, want: /^waggle: initdb ended with (?:(?!\n +at ).)+$/s },
  ])("says why where $name can be written to the folder", async ({ blocks, want }) => {
    const folder = await givenAnEmptyDataFolder();
    const [node, main] = [process.execPath, join(import.meta.dirname, "../../src/main.ts")];
    const words = `start-once --data "${folder}" --port 0 --operator-port 0`;
    const command = `ulimit -f ${blocks}; exec "${node}" "${main}" ${words}`;

    const { code, output } = await runProgram("sh", ["-c", command]).ended();

    expect(code).toBe(1);
    expect(output).toMatch(want);
  });

  test("names the file of keys and prints none of them where no terminal reads it", async () => {
    const folder = await givenAnEmptyDataFolder();
    const service = await start(folder);
    service.kill("SIGTERM");

    const { output } = await service.ended();

    const keys = Object.entries(await readCredentials(folder)).flatMap(([name, value]) =>
      name.endsWith("_api_key") ? [value] : [],
    );
    expect(keys).toHaveLength(4);
    expect(keys.filter((key) => output.includes(key))).toEqual([]);
    expect(output).not.toContain("sign in");
    expect(output).toContain(`keys: ${join(folder, "credentials.json")}`);
  });

  test("that was cut off before credentials.json is made up for by the next", async () => {
    const folder = await givenAnEmptyDataFolder();
    const first = await startOnce(folder);
    first.kill("SIGKILL");
    await first.ended();
    await rm(join(folder, "credentials.json"));

    const second = await start(folder);

    const { url, project_api_key } = await readCredentials(folder);
    expect(second.output()).toContain("made new keys for project demo");
    await sendEvent(url, project_api_key);
  });
});

describe("a second start on the same folder", { timeout: timeoutMs }, () => {
  test("says who has it, exits, and leaves the first alone", async () => {
    const folder = await givenADataFolder();
    await start(folder);
    const { url, project_api_key } = await readCredentials(folder);

    const second = await run("start", "--data", folder, "--port", "0").ended();

    expect(second.code).toBe(1);
    expect(second.output).toContain(`pid ${await findServicePid(folder)}, ${url}`);
    await sendEvent(url, project_api_key);
  });
});

describe("a signal", { timeout: timeoutMs }, () => {
  test.each(["SIGTERM", "SIGINT"] as const)("%s stops everything with code 0", async (signal) => {
    const folder = await givenADataFolder();
    const service = await start(folder);

    service.kill(signal);

    expect((await service.ended()).code).toBe(0);
    await leavesNothing(folder);
    await expect(stat(join(folder, "running.json"))).rejects.toThrow("ENOENT");
  });
});

/** Waits until no process of a folder runs. A guard outlives its server by a moment. */
async function leavesNothing(folder: string): Promise<void> {
  await expect.poll(() => processesOf(folder), patience).toEqual([]);
}

describe("a signal while starting", { timeout: timeoutMs }, () => {
  test.each(["start", "serve"])("ends %s while its database does not answer", async (command) => {
    const folder = await givenADataFolder();
    // Nothing listens on port 1.
    const url = "postgres://waggle@127.0.0.1:1/waggle";
    const service = run(command, "--data", folder, "--database-url", url);
    await vi.waitUntil(() => service.output().includes("waiting for the database"), patience);

    service.kill("SIGTERM");

    const { code, output } = await service.ended();
    expect(code).toBe(0);
    // Said ten seconds after the first time.
    expect(output).not.toContain("still waiting");
  });

  test.each([
    { name: "initialised", path: "postgres.new" },
    { name: "started", path: "postgres/postmaster.pid" },
  ])("while Postgres is being $name leaves nothing running", async ({ path }) => {
    const folder = await givenAnEmptyDataFolder();
    const cutOff = run("start", "--data", folder, "--port", "0", "--operator-port", "0");
    await vi.waitUntil(() => existsSync(join(folder, path)), { ...patience, interval: 5 });

    cutOff.kill("SIGTERM");

    const { code, output } = await cutOff.ended();
    expect(code).toBe(0);
    expect(output).not.toContain("waggle is ready");
    await leavesNothing(folder);
    await start(folder);
  });
});

describe("while requests are running", { timeout: timeoutMs }, () => {
  test("SIGTERM lets them finish and takes no new ones", async () => {
    const folder = await givenADataFolder();
    const service = await start(folder);
    const { url, project_api_key } = await readCredentials(folder);
    const body = JSON.stringify({ event: { event_type: "tool", inputs: {} } });
    const running = request(`${url}/events`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${project_api_key}`,
        "content-type": "application/json",
        "content-length": body.length,
      },
    });
    const answered = new Promise<IncomingMessage>((settle, fail) => {
      running.once("response", settle).once("error", fail);
    });
    running.write(body.slice(0, 10));
    // The first half has reached the service when a request sent after it is answered.
    await fetch(`${url}/healthz`);

    service.kill("SIGTERM");
    await vi.waitUntil(async () => {
      const refused = await fetch(`${url}/healthz`).then(
        () => false,
        () => true,
      );
      return refused;
    }, patience);
    running.end(body.slice(10));

    const response = await answered;
    response.resume();
    expect(response.statusCode).toBe(200);
    expect((await service.ended()).code).toBe(0);
  });
});

describe("after kill -9", { timeout: timeoutMs }, () => {
  test.each([
    { name: "of the service", find: async () => [] },
    { name: "of the service and Postgres", find: findPostgres },
    { name: "of the service and a guard", find: findGuards },
  ])("$name the next start has the acknowledged events", async ({ find }) => {
    const folder = await givenADataFolder();
    const first = await startOnce(folder);
    const { url, project_api_key } = await readCredentials(folder);
    const eventId = await sendEvent(url, project_api_key);
    const postmaster = (await findPostmaster(folder)) ?? 0;

    for (const pid of await find(folder)) process.kill(pid, "SIGKILL");
    first.kill("SIGKILL");
    await first.ended();
    await start(folder);

    const { url: newUrl } = await readCredentials(folder);
    expect(await readEventStatus(newUrl, project_api_key, eventId)).toBe(200);
    expect(await processesOf(folder)).not.toContain(postmaster);
  });

  test("of Postgres alone the service starts it again and goes on", async () => {
    const folder = await givenADataFolder();
    await start(folder);
    const { url, project_api_key } = await readCredentials(folder);
    const eventId = await sendEvent(url, project_api_key);

    const postmaster = (await findPostmaster(folder)) ?? 0;

    process.kill(postmaster, "SIGKILL");

    await vi.waitUntil(
      async () =>
        (await findPostmaster(folder)) !== postmaster &&
        (await fetch(`${url}/readyz`)).status === 200,
      { ...patience, interval: 100 },
    );
    expect(await readEventStatus(url, project_api_key, eventId)).toBe(200);
    await sendEvent(url, project_api_key);
  });

  test("a pid file whose pid another process has since got does not stop the start", async () => {
    const folder = await givenADataFolder();
    const first = await startOnce(folder);
    const path = join(folder, "postgres/postmaster.pid");
    const postmaster = (await findPostmaster(folder)) ?? 0;
    first.kill("SIGKILL");
    process.kill(postmaster, "SIGKILL");
    await first.ended();
    const lines = (await readFile(path, "utf8")).split("\n");
    await writeFile(path, [String(process.pid), ...lines.slice(1)].join("\n"));

    await start(folder);

    expect(await findPostmaster(folder)).not.toBe(process.pid);
  });
});
