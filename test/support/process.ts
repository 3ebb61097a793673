// The real service as a separate process, as `npm start` runs it.

import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline, type Readable } from "node:stream";
import { promisify } from "node:util";
import { inject, onTestFinished, type TestContext, vi } from "vitest";
import type { Credentials } from "../../src/commands/credentials.ts";
import { findHolder } from "../../src/embedded/data-folder.ts";
import { sendSignal } from "../../src/embedded/processes.ts";
import type { Database } from "../../src/postgres/database.ts";
import { skipWhereMissing } from "../clients/environment.ts";
import { urlOf } from "./database.ts";
import { patience } from "./patience.ts";

const mainPath = new URL("../../src/main.ts", import.meta.url).pathname;

export type Ended = { readonly code: number | null; readonly output: string };

export type Process = {
  readonly pid: number;
  /** Returns everything printed so far, to either stream. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
  ended(): Promise<Ended>;
};

/** Returns a data folder that was started once and stopped; else as `givenAnEmptyDataFolder`. */
export async function givenADataFolder(): Promise<string> {
  const folder = await givenAnEmptyDataFolder();
  await promisify(execFile)("cp", ["-a", `${await findPreparedFolder()}/.`, folder]);
  return folder;
}

/** Returns the folder that tests copy. The first test of a run that asks for it makes it. */
async function findPreparedFolder(): Promise<string> {
  const parent = inject("preparedFolder");
  const folder = join(parent, "prepared");
  const isFirst = await mkdir(join(parent, "making")).then(
    () => true,
    () => false,
  );
  if (isFirst) {
    // The account of Postgres passes through it.
    await chmod(parent, 0o711);
    const unfinished = join(parent, "unfinished");
    const service = await startOnce(unfinished);
    service.kill("SIGTERM");
    await service.ended();
    await rename(unfinished, folder);
  }
  await vi.waitUntil(() => existsSync(folder), patience);
  return folder;
}

/**
 * Creates an empty data folder. When the test ends, every process whose command line names the
 * folder is killed.
 */
export async function givenAnEmptyDataFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "waggle-process-"));
  onTestFinished(async () => {
    await vi.waitUntil(async () => {
      const pids = await processesOf(folder);
      for (const pid of pids) sendSignal(pid, "SIGKILL");
      return pids.length === 0;
    }, patience);
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  return folder;
}

/** Runs `waggle` with these arguments; of the environment only PATH. */
export function run(...words: readonly string[]): Process {
  return runProgram(process.execPath, [mainPath, ...words]);
}

/** Runs a worker on a database and a Temporal; `flags` are more command-line flags. */
export async function runWorker(
  database: Database,
  { address }: { readonly address: string },
  flags: Readonly<Record<string, string>> = {},
): Promise<Process> {
  const places = { "database-url": await urlOf(database), "temporal-address": address };
  const all = Object.entries({ ...places, "log-level": "warn", ...flags });
  return run("worker", ...all.flatMap(([name, value]) => [`--${name}`, value]));
}

/** Runs `waggle` as `run` does, with standard input. */
export function runWithInput(input: Readable, ...words: readonly string[]): Process {
  return runProgram(process.execPath, [mainPath, ...words], input);
}

/** Runs a program; it is killed at the end of the test. */
export function runProgram(command: string, words: readonly string[], input?: Readable): Process {
  const child = spawn(command, words, {
    env: { PATH: process.env["PATH"], TZ: "UTC" },
    stdio: [input ? "pipe" : "ignore", "pipe", "pipe"],
  });
  // The program may end before it has read everything.
  if (input && child.stdin) pipeline(input, child.stdin, () => undefined);
  const { pid } = child;
  if (pid === undefined) throw new Error("the process did not start");
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => chunks.push(chunk));
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

/**
 * Starts the service on a data folder, without workflows, and waits for its ready line. The process
 * is the supervisor; findServicePid returns the service.
 */
export async function start(folder: string, ...flags: readonly string[]): Promise<Process> {
  return becomeReady(run("start", ...startFlags(folder), ...flags));
}

/** Starts the service as `start` does, but without a supervisor: the process is the service. */
export async function startOnce(folder: string, ...flags: readonly string[]): Promise<Process> {
  return becomeReady(run("start-once", ...startFlags(folder), ...flags));
}

/** Starts the service as `start` does, on a separate terminal made by `script` of util-linux. */
export async function startOnATerminal(folder: string): Promise<Process> {
  const command = [process.execPath, mainPath, "start", ...startFlags(folder)].join(" ");
  return becomeReady(runProgram("script", ["-qefc", command, "/dev/null"]));
}

/** Skips a test where there is no `script` with the options of startOnATerminal. */
export async function skipWithoutTerminals(context: TestContext): Promise<void> {
  const hasScript = await promisify(execFile)("script", ["--version"]).then(
    ({ stdout }) => stdout.includes("util-linux"),
    () => false,
  );
  const missing = "there is no script of util-linux to make a terminal";
  skipWhereMissing(context, hasScript ? undefined : missing);
}

/** Returns default flags, which later flags of the same name override. */
function startFlags(folder: string): readonly string[] {
  return ["--data", folder, "--port", "0", "--operator-port", "0", "--workflows", "off"];
}

async function becomeReady(service: Process): Promise<Process> {
  let end: Ended | undefined;
  void service.ended().then((ended) => (end = ended));
  await vi.waitUntil(() => end ?? service.output().includes("waggle is ready on"), patience);
  if (end) throw new Error(`waggle ended with ${end.code}: ${end.output}`);
  return service;
}

/** Returns the pid of the service that runs on a data folder. */
export async function findServicePid(folder: string): Promise<number | undefined> {
  return (await findHolder(folder))?.pid;
}

export async function readCredentials(folder: string): Promise<Credentials> {
  return JSON.parse(await readFile(join(folder, "credentials.json"), "utf8")) as Credentials;
}

/** Returns the pid of a data folder's Postgres, or of the last one that was killed. */
export async function findPostmaster(folder: string): Promise<number | undefined> {
  const text = await readFile(join(folder, "postgres/postmaster.pid"), "utf8").catch(() => "");
  return text === "" ? undefined : Number(text.split("\n")[0]);
}

/** Returns the pids of all processes whose command line names the data folder. */
export async function processesOf(folder: string): Promise<readonly number[]> {
  return (await commandsOf(folder)).map(({ pid }) => pid);
}

/** Returns the pids of the guards of a data folder's servers. */
export async function findGuards(folder: string): Promise<readonly number[]> {
  const commands = await commandsOf(folder);
  return commands.flatMap(({ pid, words }) => (words.includes("guard") ? [pid] : []));
}

type Command = { readonly pid: number; readonly words: readonly string[] };

async function commandsOf(folder: string): Promise<readonly Command[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      return command.includes(folder) ? [{ pid: Number(pid), words: command.split("\0") }] : [];
    }),
  );
  return found.flat();
}
