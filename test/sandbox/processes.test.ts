// The sandbox's processes: made ready, handed out, killed from outside, and gone with the service.
// Source: docs/sandbox.md.

import { spawn } from "node:child_process";
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
  truncateSync,
} from "node:fs";
import { getPriority, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { createPythonSandbox } from "../../src/evaluation/runner/python/sandbox.ts";
import type { PythonSandbox } from "../../src/evaluation/runner/python/sandbox.ts";
import { reasonOf } from "../support/reason.ts";
import {
  anOwner,
  defaultLimits,
  sharedCacheFolder,
  startMs,
  startSandbox,
} from "./start-sandbox.ts";

const folder = mkdtempSync(join(tmpdir(), "waggle-processes-"));
const opened: PythonSandbox[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((sandbox) => sandbox.close()));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<PythonSandbox> {
  const sandbox = await startSandbox();
  opened.push(sandbox);
  return sandbox;
}

function create(cacheFolder: string, processesMax = 1): PythonSandbox {
  const logger = { info: () => undefined, warn: () => undefined };
  const options = { limits: defaultLimits, processesMax, idleMin: 0, cacheFolder, logger };
  const sandbox = createPythonSandbox(options);
  opened.push(sandbox);
  return sandbox;
}

/** Pids of the processes below one, by the names that the system has for them. */
function childrenOf(parent: number, name: string): number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => {
      const [, command, rest] = /^\d+ \((.*)\) (.*)/s.exec(readStat(pid)) ?? [];
      return command === name && Number(rest?.split(" ")[1]) === parent;
    })
    .map(Number);
}

function readStat(pid: string | number): string {
  return readFile(`/proc/${pid}/stat`);
}

/** Empty where the process has ended since it was listed, or the system has no such file. */
function readFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function isRunning(pid: number): boolean {
  const state = /\) (\w)/.exec(readStat(pid))?.[1];
  return state !== undefined && state !== "Z";
}

async function until(isTrue: () => boolean): Promise<void> {
  const deadline = Date.now() + 50_000;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error("what was waited for did not happen");
    await new Promise((resume) => setTimeout(resume, 20));
  }
}

/** Kills the processes that evaluate, so many in turn; returns how many there were. */
async function killBusy(running: Promise<unknown>, times: number): Promise<number> {
  let isOver = false;
  const end = (): void => void (isOver = true);
  void running.then(end, end);
  const killed = new Set<number>();
  await until(() => {
    const pid = childrenOf(process.pid, "deno").find((one) => !killed.has(one) && isBusy(one));
    if (pid !== undefined && killed.size < times) process.kill(pid, "SIGKILL");
    if (pid !== undefined) killed.add(pid);
    return isOver || killed.size === times;
  });
  return killed.size;
}

/** Whether it has had a second and a half of a core: a start takes one. */
function isBusy(pid: number): boolean {
  const fields = readStat(pid).split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]) > 150;
}

describe("a process", () => {
  test(
    "that is killed from outside does its event once more",
    async () => {
      const session = await (
        await start()
      ).open(`import time
def evaluate(event):
    while time.time() * 1000 < event["inputs"]["until"]: pass
    return 1`);
      const running = session.run({ inputs: { until: Date.now() + 9_000 } });

      const killed = await killBusy(running, 1);

      expect(killed).toBe(1);
      expect(await running).toMatchObject({ kind: "value", value: 1 });
    },
    startMs,
  );

  test(
    "that is killed twice is a crash",
    async () => {
      const session = await (await start()).open("while True: pass");
      const running = session.run({});

      const killed = await killBusy(running, 2);

      expect(killed).toBe(2);
      expect(await running).toMatchObject({ kind: "failure", reason: "CRASH" });
    },
    startMs,
  );

  test("yields to everything else, also where the system shares out by session", async () => {
    const session = await (await start()).open("result = 1");
    await session.run({});
    const processes = childrenOf(process.pid, "deno");
    const groupOf = (pid: number): string => readFile(`/proc/${pid}/autogroup`);
    // The machine lets it be said ten times a second, so it may take a moment.
    await until(() => processes.every((pid) => !groupOf(pid) || groupOf(pid).includes(" nice 10")));

    const niceness = processes.map((pid) => Number(readStat(pid).split(") ")[1]?.split(" ")[16]));

    expect(processes.length).toBeGreaterThan(0);
    expect(new Set(niceness)).toEqual(new Set([Math.min(getPriority() + 10, 19)]));
  });

  test("is killed with its session", async () => {
    const sandbox = await start();
    const session = await sandbox.open("result = 1");
    await session.run({});
    const before = childrenOf(process.pid, "deno");

    await session.close();
    await sandbox.close();

    await until(() => !before.some(isRunning));
    expect(before.length).toBeGreaterThan(0);
  });

  test(
    "ends with a service that is killed, in the middle of a loop",
    async () => {
      const script = join(folder, "service.ts");
      const support = resolve(import.meta.dirname, "start-sandbox.ts");
      writeFileSync(
        script,
        `import { startSandbox } from ${JSON.stringify(support)};
        const session = await (await startSandbox()).open("while True: pass");
        process.stdout.write("running");
        for (;;) await session.run({});`,
      );
      const service = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
      await new Promise((told) => service.stdout.once("data", told));
      const pid = service.pid ?? 0;
      await until(() => childrenOf(pid, "deno").some(isBusy));
      const processes = childrenOf(pid, "deno");

      service.kill("SIGKILL");

      await until(() => !processes.some(isRunning));
      expect(processes.length).toBeGreaterThan(0);
    },
    startMs,
  );
});

/** Paths of the snapshots below a folder, from there. */
function snapshotsIn(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".snapshot"));
}

/** Returns a cache folder of its own with a copy of the snapshot. */
function copyCache(name: string): string {
  const cache = join(folder, name);
  for (const snapshot of snapshotsIn(sharedCacheFolder)) {
    cpSync(join(sharedCacheFolder, snapshot), join(cache, snapshot), { recursive: true });
  }
  return cache;
}

describe("a sandbox", () => {
  test("gives no more places than it has, and says so", async () => {
    const sandbox = create(sharedCacheFolder);
    const only = await sandbox.open("result = 1", { owner: anOwner("first") });
    const waiting = sandbox.open("result = 2", { owner: anOwner("second") });

    await only.close();
    const second = await waiting;
    const got = reasonOf(sandbox.open("result = 3", { owner: anOwner("third") }));

    expect(await got).toMatch(/^OVERLOADED/);
    expect(await second.run({})).toMatchObject({ kind: "value", value: 2 });
  });

  test("gives up waiting for a place when its caller does", async () => {
    const sandbox = create(sharedCacheFolder);
    await sandbox.open("result = 1");
    const caller = new AbortController();
    const waiting = sandbox.open("result = 2", { signal: caller.signal });

    caller.abort(new Error("the caller left"));

    await expect(waiting).rejects.toThrow("the caller left");
  });

  test("ends an evaluation whose caller leaves", async () => {
    const sandbox = await start();
    const caller = new AbortController();
    const session = await sandbox.open("while True: pass", { signal: caller.signal });
    const running = session.run({});

    caller.abort(new Error("the caller left"));

    await expect(running).rejects.toThrow("the caller left");
  });

  test("starts nothing for a session that was closed in the middle of a run", async () => {
    const sandbox = await start();
    const session = await sandbox.open("while True: pass");
    const running = session.run({});
    running.catch(() => undefined);
    await until(() => childrenOf(process.pid, "deno").some(isBusy));

    await session.close();

    await expect(running).rejects.toThrow("the session is closed");
  });

  test("answers nothing more once it is closed", async () => {
    const sandbox = create(sharedCacheFolder);

    await sandbox.close();

    expect(await reasonOf(sandbox.open("result = 1"))).toMatch(/^SHUTTING_DOWN/);
    expect(await reasonOf(sandbox.inspect("result = 1"))).toMatch(/^SHUTTING_DOWN/);
  });

  test("that cannot be made ready is unavailable, which is no evaluator's failure", async () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    const sandbox = create(join(file, "cache"));
    const session = await sandbox.open("result = 1");

    expect(await reasonOf(session.run({}))).toMatch(/^SANDBOX_UNAVAILABLE/);
    expect(await reasonOf(sandbox.inspect("result = 1"))).toMatch(/^SANDBOX_UNAVAILABLE/);
  });

  test(
    "makes its snapshot once, whoever makes it at the same time",
    async () => {
      const cache = join(folder, "cache");
      const both = [create(cache), create(cache)];

      const got = await Promise.all(both.map((sandbox) => sandbox.inspect("result = 1")));

      expect(got).toEqual([{ readsGroundTruth: false }, { readsGroundTruth: false }]);
      expect(snapshotsIn(cache)).toHaveLength(1);
      expect(readdirSync(cache)).toHaveLength(1);
    },
    startMs,
  );

  test(
    "makes its snapshot again where the folder was emptied",
    async () => {
      const cache = copyCache("emptied");
      const sandbox = create(cache);
      const session = await sandbox.open("result = 1");
      await session.run({});
      rmSync(cache, { recursive: true });
      await session.close();

      const next = await sandbox.open("result = 2");
      const first = await reasonOf(next.run({}));
      const second = await next.run({});

      expect(first).toMatch(/^SANDBOX_UNAVAILABLE/);
      expect(second).toMatchObject({ kind: "value", value: 2 });
    },
    startMs,
  );

  test(
    "makes its snapshot again where the file was damaged",
    async () => {
      const cache = copyCache("damaged");
      for (const name of snapshotsIn(cache)) truncateSync(join(cache, name), 1_000_000);

      const session = await create(cache).open("result = 2");

      expect(await session.run({})).toMatchObject({ kind: "value", value: 2 });
      await session.close();
    },
    startMs,
  );

  test("keeps as many processes ready as it is told", async () => {
    const sandbox = await start();

    sandbox.start();
    await until(sandbox.isWarm);

    expect(sandbox.isWarm()).toBe(true);
  });
});
