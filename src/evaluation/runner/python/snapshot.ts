// Prepares the start of sandbox processes: Python's memory after its start, stored in a file, which
// makes a start ten times faster. Source: docs/sandbox.md.

import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ServiceError } from "../../../base/errors.ts";
import { isReachable } from "../../../base/account.ts";
import { findInstallation, type Installation } from "./installation.ts";
import type { Account, Launch, SandboxLimits } from "./launch.ts";
import { killGroup, spawnChild } from "./process.ts";

export type PrepareOptions = {
  readonly limits: SandboxLimits;
  /** Created if absent. Several services may share it. */
  readonly cacheFolder: string;
};

/** Account `nobody` on almost every system; it needs no name. */
const nobody: Account = { uid: 65_534, gid: 65_534 };

const readRight = 0o4;

const suffix = ".snapshot";

const makingMs = 120_000;

/**
 * Returns the launch of processes, after making the snapshot if the folder has none of this
 * installation. Throws SANDBOX_UNAVAILABLE.
 */
export async function prepareLaunch({ limits, cacheFolder }: PrepareOptions): Promise<Launch> {
  const installation = findInstallation();
  const packages = await listPackages(installation.packages);
  const key = await hashInstallation(installation, packages);
  const launch = { installation, packages, snapshot: "", account: undefined, limits };
  const folder = join(cacheFolder, `python-${key}`);
  const snapshot = (await findSnapshot(folder)) ?? (await makeSnapshot(launch, folder));
  return { ...launch, snapshot, account: await findAccount({ ...launch, snapshot }) };
}

/** Returns a snapshot whose name is its own hash; removes damaged ones. */
async function findSnapshot(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch(() => []);
  for (const found of names.filter((name) => name.endsWith(suffix)).map(inside(folder))) {
    if (basename(found, suffix) === (await hashFile(found))) return found;
    await rm(found, { force: true });
  }
  return undefined;
}

function inside(folder: string): (name: string) => string {
  return (name) => join(folder, name);
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

/** Returns a hash that is the same for the same installation anywhere; every file of it counts. */
async function hashInstallation(
  { pyodide, guest }: Installation,
  packages: readonly string[],
): Promise<string> {
  const ours = (await readdir(guest)).toSorted().filter((name) => /\.(js|py)$/.test(name));
  const hash = createHash("sha256");
  for (const path of [
    join(pyodide, "package.json"),
    join(pyodide, "pyodide.asm.wasm"),
    join(pyodide, "python_stdlib.zip"),
    ...ours.map((name) => join(guest, name)),
    ...packages,
  ]) {
    hash.update(`${path.slice(dirname(path).length)}\n`);
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  }
  return hash.digest("hex").slice(0, 32);
}

/**
 * Creates the folder next to its final place and moves it there, because other services may create
 * the same folder now, or be killed while doing it. A move never replaces a folder with a file in
 * it, so the first one stays.
 */
async function makeSnapshot(launch: Launch, folder: string): Promise<string> {
  const unfinished = `${folder}.${randomUUID()}`;
  await mkdir(unfinished, { recursive: true, mode: 0o755 });
  try {
    const memory = join(unfinished, "memory");
    await writeMemory(launch, memory);
    const name = `${await hashFile(memory)}${suffix}`;
    await rename(memory, join(unfinished, name));
    try {
      await rename(unfinished, folder);
    } catch (error) {
      const other = await findSnapshot(folder);
      if (other === undefined) throw error;
      return other;
    }
    return join(folder, name);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

async function writeMemory(launch: Launch, path: string): Promise<void> {
  const child = spawnChild(launch, "snapshot");
  const timer = setTimeout(() => killGroup(child), makingMs);
  let errorText = "";
  child.stderr.on("data", (chunk: Buffer) => (errorText += chunk.toString("utf8")));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", () => killGroup(child));
    child.on("close", resolve);
  });
  // Readable to the account of the processes; it contains no user data.
  const file = await open(path, "wx", 0o644);
  try {
    const [code] = await Promise.all([ended, file.writeFile(child.stdout)]);
    if (code !== 0) throw new Error(`making the snapshot ended with ${code}: ${errorText}`);
    await file.sync();
  } catch (cause) {
    throw new ServiceError("SANDBOX_UNAVAILABLE", "Python's sandbox cannot be started", { cause });
  } finally {
    clearTimeout(timer);
    await file.close();
  }
}

/**
 * Returns the account of processes: for root it is `nobody`, if that account can read their files.
 */
async function findAccount({ installation, packages, snapshot }: Launch) {
  if (process.getuid?.() !== 0) return undefined;
  const { deno, pyodide, guest } = installation;
  const isUsable = await Promise.all([
    isReachable(deno, nobody),
    ...[pyodide, guest].map((folder) => isReachable(folder, nobody)),
    ...[snapshot, ...packages].map((path) => isReachable(path, nobody, readRight)),
  ]);
  return isUsable.every(Boolean) ? nobody : undefined;
}

type LockedPackage = { readonly file: string; readonly sha256: string };

/**
 * Returns the paths of the wheels that evaluators may import in addition to Python's own modules,
 * stored here and never fetched, in the lock's order. Throws if a file differs from the lock.
 */
async function listPackages(folder: string): Promise<readonly string[]> {
  const text = await readFile(join(folder, "lock.json"), "utf8");
  const { packages } = JSON.parse(text) as { readonly packages: readonly LockedPackage[] };
  return Promise.all(packages.map((locked) => checkPackage(folder, locked)));
}

async function checkPackage(folder: string, { file, sha256 }: LockedPackage): Promise<string> {
  const path = join(folder, file);
  const actual = createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
  if (actual !== sha256) throw new Error(`${file} is not the package that lock.json names`);
  return path;
}
