// The supervisor above programs that crash in every way: which ends it restarts, which it hands on,
// and when it gives up.

import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { sendSignal } from "../../src/embedded/processes.ts";
import { patience } from "../support/patience.ts";
import { runProgram } from "../support/process.ts";
import type { Process } from "../support/process.ts";

const timeoutMs = 300_000;
const supervisePath = join(import.meta.dirname, "supervise.ts");
const crashingPath = join(import.meta.dirname, "crashing.ts");
/** Small, so that it is soon full. */
const nodeFlags = ["--max-old-space-size=30"];

type Supervised = {
  readonly supervisor: Process;
  /** Pids of the runs so far. */
  readonly pids: () => readonly number[];
};

const shortMs = 20;
/** Longer than a test may take. */
const longMs = 600_000;

/** Supervises a program whose runs end by these fates, `unready:` or `ready:` and how. */
async function supervise(...fates: readonly string[]): Promise<Supervised> {
  return superviseWithPauses(shortMs, fates);
}

async function superviseWithPauses(firstMs: number, fates: readonly string[]): Promise<Supervised> {
  const folder = await mkdtemp(join(tmpdir(), "waggle-supervisor-"));
  const path = join(folder, "runs");
  await writeFile(path, "");
  const pids = () => readFileSync(path, "utf8").trim().split("\n").filter(Boolean).map(Number);
  onTestFinished(async () => {
    for (const pid of pids()) sendSignal(pid, "SIGKILL");
    await rm(folder, { recursive: true });
  });
  const words = [...nodeFlags, supervisePath, String(firstMs), crashingPath, path, ...fates];
  return { supervisor: runProgram(process.execPath, words), pids };
}

type LogLine = { readonly msg: string; readonly cause?: string; readonly crashes?: number };

function logOf(output: string): readonly LogLine[] {
  const lines = output.split("\n").filter((line) => line.startsWith("{"));
  return lines.map((line) => JSON.parse(line) as LogLine);
}

const restarted = "the service crashed; starting it again";

describe("a program that was ready", { timeout: timeoutMs }, () => {
  test.each([
    { fate: "exception", cause: "exit code 1" },
    { fate: "memory", cause: "SIGABRT" },
    { fate: "abort", cause: "SIGABRT" },
    { fate: "kill", cause: "SIGKILL" },
    { fate: "fail", cause: "exit code 3" },
  ])("is started again after its end by $fate, which is logged", async ({ fate, cause }) => {
    const { supervisor, pids } = await supervise(`ready:${fate}`, "ready:end");

    const { code, output } = await supervisor.ended();

    expect(code).toBe(0);
    expect(pids()).toHaveLength(2);
    expect(logOf(output)).toEqual([
      expect.objectContaining({
        level: 50,
        msg: restarted,
        cause,
        crashes: 1,
        pauseMs: expect.any(Number) as number,
      }),
    ]);
  });

  test("is started again after each of many crashes, which are counted", async () => {
    const crashes = Array.from({ length: 6 }, () => "ready:kill");
    const { supervisor } = await supervise(...crashes, "ready:end");

    const { code, output } = await supervisor.ended();

    expect(code).toBe(0);
    expect(logOf(output).map((line) => line.crashes)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("is given up when it does not become ready again, with its exit code", async () => {
    const { supervisor, pids } = await supervise("ready:kill", "unready:fail");

    const { code, output } = await supervisor.ended();

    expect(code).toBe(3);
    expect(pids()).toHaveLength(4);
    expect(logOf(output).at(-1)).toMatchObject({
      level: 60,
      msg: "the service cannot be started again; giving up",
      cause: "exit code 3",
      failures: 3,
    });
  });

  test("may fail to start now and then between two times that it is ready", async () => {
    const twice = ["ready:kill", "unready:fail", "unready:kill"];
    const { supervisor, pids } = await supervise(...twice, ...twice, "ready:end");

    const { code } = await supervisor.ended();

    expect(code).toBe(0);
    expect(pids()).toHaveLength(7);
  });
});

describe("a program that was never ready", { timeout: timeoutMs }, () => {
  test.each([
    { fate: "fail", want: 3, fatal: [] },
    { fate: "end", want: 0, fatal: [] },
    { fate: "kill", want: 128 + 9, fatal: ["SIGKILL"] },
  ])("is not started again after its end by $fate", async ({ fate, want, fatal }) => {
    const { supervisor, pids } = await supervise(`unready:${fate}`);

    const { code, output } = await supervisor.ended();

    expect(code).toBe(want);
    expect(pids()).toHaveLength(1);
    expect(logOf(output).map(({ cause }) => cause)).toEqual(fatal);
  });
});

describe("SIGTERM to the supervisor", { timeout: timeoutMs }, () => {
  test("reaches the program, whose exit code it hands on", async () => {
    const { supervisor, pids } = await supervise("ready:wait");
    await vi.waitUntil(() => pids().length === 1, patience);

    supervisor.kill("SIGTERM");

    expect(await supervisor.ended()).toEqual({ code: 5, output: "" });
  });

  test("ends the pause after a crash", async () => {
    const { supervisor, pids } = await superviseWithPauses(longMs, ["ready:kill"]);
    await vi.waitUntil(() => supervisor.output().includes(restarted), patience);

    supervisor.kill("SIGTERM");

    expect((await supervisor.ended()).code).toBe(0);
    expect(pids()).toHaveLength(1);
  });
});
