// The service as `npm start` runs it below its supervisor: a separate process on a fresh data
// folder with its embedded Postgres.

import { type ChildProcess, spawn } from "node:child_process";
import { chmod, mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Credentials, credentialsPath } from "../../src/commands/credentials.ts";
import { findRunningPostgres } from "../../src/embedded/postgres.ts";
import { readStartCommand } from "../support/start-command.ts";

export type BenchService = {
  readonly pid: number;
  readonly postgresPid: number;
  readonly folder: string;
  readonly credentials: Credentials;
  readonly databaseUrl: string;
  /** Stops the service and removes its data folder. */
  stop(): Promise<void>;
};

const mainPath = new URL("../../src/main.ts", import.meta.url).pathname;
const startTimeoutMs = 60_000;

/**
 * Starts the service. `nodeFlags` are for profiles, such as `--cpu-prof --cpu-prof-dir=…`; `flags`
 * are the service's.
 */
export async function startService(
  nodeFlags: readonly string[] = [],
  flags: readonly string[] = [],
): Promise<BenchService> {
  const folder = await mkdtemp(join(tmpdir(), "waggle-bench-"));
  // Postgres does not run as root and must be able to enter the folder.
  await chmod(folder, 0o755);
  const logPath = join(folder, "service.log");
  const words = ["start-once", "--data", folder, "--workflows", "off", ...flags];
  const child = await runWaggle(words, { logPath, nodeFlags });
  try {
    await becomeReady(child, logPath);
    const credentials = JSON.parse(await readFile(credentialsPath(folder), "utf8")) as Credentials;
    const databaseUrl = await findRunningPostgres(folder);
    if (databaseUrl === undefined) throw new Error("the embedded Postgres is not running");
    const postmaster = await readFile(join(folder, "postgres/postmaster.pid"), "utf8");
    return {
      pid: child.pid ?? 0,
      postgresPid: Number(postmaster.split("\n")[0]),
      folder,
      credentials,
      databaseUrl,
      stop: () => stop(child, folder),
    };
  } catch (error) {
    await stop(child, folder);
    throw error;
  }
}

type RunOptions = {
  /** File that takes the output of the process. */
  readonly logPath: string;
  readonly nodeFlags?: readonly string[];
};

/** Runs a command of the service as a process of its own, on free ports. */
export async function runWaggle(
  words: readonly string[],
  { logPath, nodeFlags = [] }: RunOptions,
): Promise<ChildProcess> {
  const { flags, environment } = readStartCommand();
  const ports = ["--port", "0", "--operator-port", "0"];
  const log = await open(logPath, "w");
  const child = spawn(process.execPath, [...flags, ...nodeFlags, mainPath, ...words, ...ports], {
    env: { ...environment, PATH: process.env["PATH"], TZ: "UTC" },
    stdio: ["ignore", log.fd, log.fd],
  });
  await log.close();
  return child;
}

/** Waits until a process of `runWaggle` is ready, and returns its address. */
export async function becomeReady(child: ChildProcess, logPath: string): Promise<string> {
  const deadline = Date.now() + startTimeoutMs;
  for (;;) {
    const output = await readFile(logPath, "utf8");
    const url = /waggle is ready on (\S+)/.exec(output)?.[1];
    if (url !== undefined) return url;
    if (child.exitCode !== null) throw new Error(`the service ended: ${output}`);
    if (Date.now() > deadline) throw new Error(`the service is not ready: ${output}`);
    await delay(50);
  }
}

/** Ends a process as an orchestrator does. */
export async function terminate(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await new Promise((resolve) => child.once("exit", resolve));
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  await terminate(child);
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
}
