// The real service as a process of its own, as `npm start` runs it. Called by test/process.

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import type { Credentials } from "../../src/commands/credentials.ts";

const mainPath = new URL("../../src/main.ts", import.meta.url).pathname;
const startTimeoutMs = 30_000;

export type Ended = { readonly code: number | null; readonly output: string };

export type Process = {
  readonly pid: number;
  /** Everything printed so far, to either stream. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
  /** Waits for the end. */
  ended(): Promise<Ended>;
};

/** Makes an empty data folder; what still runs on it when the test ends is killed. */
export async function givenADataFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "waggle-process-"));
  onTestFinished(async () => {
    for (const pid of [await findPostmaster(folder), await findTemporalPid(folder)]) {
      if (pid !== undefined && isRunning(pid)) process.kill(pid, "SIGKILL");
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  return folder;
}

/** Runs `waggle` with these words and no variable of ours from outside. */
export function run(...words: readonly string[]): Process {
  const child = spawn(process.execPath, [mainPath, ...words], {
    env: { PATH: process.env["PATH"], TZ: "UTC" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error("the process did not start");
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => chunks.push(chunk));
  }
  const ended = waitForEnd(child, () => chunks.join(""));
  return {
    pid,
    output: () => chunks.join(""),
    kill: (signal) => child.kill(signal),
    ended: () => ended,
  };
}

async function waitForEnd(child: ChildProcess, output: () => string): Promise<Ended> {
  const code = await new Promise<number | null>((settle) => child.once("close", settle));
  return { code, output: output() };
}

/** Starts the service on a data folder, without workflows, and waits for its ready line. */
export async function start(folder: string, ...flags: readonly string[]): Promise<Process> {
  const ports = ["--port", "0", "--operator-port", "0"];
  // The last flag of a name counts.
  const service = run("start", "--data", folder, ...ports, "--workflows", "off", ...flags);
  let end: Ended | undefined;
  void service.ended().then((ended) => (end = ended));
  await vi.waitUntil(() => end ?? service.output().includes("waggle is ready on"), {
    timeout: startTimeoutMs,
  });
  if (end) throw new Error(`waggle start ended with ${end.code}: ${end.output}`);
  return service;
}

export async function readCredentials(folder: string): Promise<Credentials> {
  return JSON.parse(await readFile(join(folder, "credentials.json"), "utf8")) as Credentials;
}

/** Returns the pid of the Postgres of a data folder, or of the last one that was killed. */
export async function findPostmaster(folder: string): Promise<number | undefined> {
  const text = await readFile(join(folder, "postgres/postmaster.pid"), "utf8").catch(() => "");
  return text === "" ? undefined : Number(text.split("\n")[0]);
}

async function findTemporalPid(folder: string): Promise<number | undefined> {
  const text = await readFile(join(folder, "temporal/temporal.pid"), "utf8").catch(() => "");
  return text === "" ? undefined : Number(text);
}

/** Returns the pids of every process that names the data folder in its command line. */
export async function processesOf(folder: string): Promise<readonly number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      return command.includes(folder) ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // ESRCH: it has ended.
    return false;
  }
}
