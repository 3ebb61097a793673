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
  const command = readStartCommand();
  const folder = await mkdtemp(join(tmpdir(), "waggle-bench-"));
  // Postgres does not run as root and must be able to enter the folder.
  await chmod(folder, 0o755);
  const log = await open(join(folder, "service.log"), "w");
  const child = spawn(
    process.execPath,
    [
      ...command.flags,
      ...nodeFlags,
      mainPath,
      "start-once",
      "--data",
      folder,
      "--port",
      "0",
      "--operator-port",
      "0",
      "--workflows",
      "off",
      ...flags,
    ],
    {
      env: { ...command.environment, PATH: process.env["PATH"], TZ: "UTC" },
      stdio: ["ignore", log.fd, log.fd],
    },
  );
  await log.close();
  try {
    await becomesReady(child, folder);
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

async function becomesReady(child: ChildProcess, folder: string): Promise<void> {
  const deadline = Date.now() + startTimeoutMs;
  for (;;) {
    const output = await readFile(join(folder, "service.log"), "utf8");
    if (output.includes("waggle is ready on")) return;
    if (child.exitCode !== null) throw new Error(`the service ended: ${output}`);
    if (Date.now() > deadline) throw new Error(`the service is not ready: ${output}`);
    await delay(50);
  }
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGTERM");
    await new Promise((resolve) => child.once("exit", resolve));
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
}
