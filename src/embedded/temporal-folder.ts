// Files of the embedded Temporal in the data folder: database, ports, pid and log. The data
// folder's lock must be held.

import { randomInt } from "node:crypto";
import { constants } from "node:fs";
import { access, mkdir, readFile, realpath, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../base/operator-error.ts";
import { readJson, writeJson } from "./data-folder.ts";
import { readCommandLine, sendSignal } from "./processes.ts";

export type TemporalFolder = {
  readonly databasePath: string;
  readonly pidPath: string;
  readonly portsPath: string;
  readonly logPath: string;
};

export type Ports = { readonly port: number; readonly uiPort: number };

export const host = "127.0.0.1";

/** Below the ports for outgoing connections: one of those could be in use at a restart. */
const portMin = 17_000;
const portMax = 29_999;
const portTriesMax = 100;
const stopTimeoutMs = 10_000;

export async function openTemporalFolder(dataFolder: string): Promise<TemporalFolder> {
  const folder = join(resolve(dataFolder), "temporal");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await assertOurs(folder);
  // The real path: an orphan is recognized by its command line, however the folder was named.
  const real = await realpath(folder);
  return pathsOf(resolve(dataFolder), real);
}

function pathsOf(dataFolder: string, folder: string): TemporalFolder {
  return {
    databasePath: join(folder, "temporal.db"),
    pidPath: join(folder, "temporal.pid"),
    portsPath: join(folder, "ports.json"),
    logPath: join(dataFolder, "temporal.log"),
  };
}

async function assertOurs(folder: string): Promise<void> {
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new OperatorError(
      `${folder} belongs to another user, who started waggle here first: start it as that user ` +
        "or as root, or choose another data folder",
      { cause },
    );
  }
}

/** Returns the server of a data folder whose service runs; undefined if it has none. */
export async function findRunningTemporal(
  dataFolder: string,
): Promise<
  { readonly address: string; readonly pid: number; readonly logPath: string } | undefined
> {
  const { pidPath, portsPath, logPath } = pathsOf(dataFolder, join(dataFolder, "temporal"));
  const ports = await readJson<Ports>(portsPath);
  const pid = Number(await readFile(pidPath, "utf8").catch(() => ""));
  return ports && pid > 0 ? { address: `${host}:${ports.port}`, pid, logPath } : undefined;
}

/**
 * Returns the ports of the last start if they are free, because people keep links to the web page;
 * else free ones, which it saves. A given port is used unchanged.
 */
export async function choosePorts(
  folder: TemporalFolder,
  given: number | undefined,
): Promise<Ports> {
  const kept = await readJson<Ports>(folder.portsPath);
  const port = given ?? (await choosePort(kept?.port, []));
  const uiPort = await choosePort(kept?.uiPort, [port]);
  if (given !== undefined && !(await isFree(given))) {
    throw new OperatorError(
      `${host}:${given}, which Temporal was to use, is in use: ` +
        "stop what uses it, or choose another",
    );
  }
  const chosen = { port, uiPort };
  await writeJson(folder.portsPath, chosen);
  return chosen;
}

async function choosePort(kept: number | undefined, taken: readonly number[]): Promise<number> {
  let candidate = kept ?? randomInt(portMin, portMax);
  for (let tries = 0; tries < portTriesMax; tries += 1) {
    if (!taken.includes(candidate) && (await isFree(candidate))) return candidate;
    candidate = randomInt(portMin, portMax);
  }
  throw new OperatorError(`found no free port for Temporal from ${portMin} to ${portMax}`);
}

async function isFree(port: number): Promise<boolean> {
  return new Promise((settle) => {
    const server = createServer();
    server.once("error", () => settle(false));
    server.listen({ port, host }, () => server.close(() => settle(true)));
  });
}

/** Stops a server that outlived its service (kill -9). */
export async function stopOrphan(folder: TemporalFolder): Promise<void> {
  const pid = Number(await readFile(folder.pidPath, "utf8").catch(() => ""));
  if (pid > 0) {
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (!(await isServer(pid, folder))) break;
      sendSignal(pid, signal);
      await waitForEnd(pid, folder);
    }
  }
  await rm(folder.pidPath, { force: true });
}

async function waitForEnd(pid: number, folder: TemporalFolder): Promise<void> {
  const deadline = Date.now() + stopTimeoutMs;
  while (Date.now() < deadline && (await isServer(pid, folder))) await delay(50);
}

/** Checks the command line too: after a restart another process may have the pid. */
async function isServer(pid: number, { databasePath }: TemporalFolder): Promise<boolean> {
  return (await readCommandLine(pid)).includes(databasePath);
}
