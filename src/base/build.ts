// Builds in a child process what a clone lacks, so that the service answers meanwhile and the
// memory of the build tool is given back.

import { fork } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export type BuildOptions = {
  /** Names the built thing in errors, such as `the web app`. */
  readonly what: string;
  /** Program of the child process; it ends by itself when the channel to this process closes. */
  readonly script: URL;
  /** Path of a file that each build writes anew. */
  readonly target: string;
  /** Paths of the files and folders from which it is made. */
  readonly sources: readonly string[];
};

export type Build = {
  /** Settles when the target is up to date; fails if it cannot be built. */
  readonly done: Promise<void>;
  readonly isStopped: () => boolean;
  /** Ends the build; resolves when its process has ended. */
  stop(): Promise<void>;
};

/** Builds the target if it does not exist or is older than a source. */
export function startBuild(options: BuildOptions): Build {
  if (isBuilt(options)) {
    return { done: Promise.resolve(), isStopped: () => false, stop: () => Promise.resolve() };
  }
  const child = fork(fileURLToPath(options.script), [], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    execArgv: [],
    // Some environments ask for React's build for development, which is larger and slower.
    env: { NODE_ENV: "production" },
  });
  let isStopped = false;
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-errorCharsMax);
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once("exit", (code) => resolve(code));
    child.once("error", () => resolve(null));
  });
  const done = ended.then((code) => {
    if (code !== 0) throw new Error(`the build of ${options.what} failed: ${errors.trim()}`);
  });
  return {
    done,
    isStopped: () => isStopped,
    async stop() {
      isStopped = true;
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Characters of the build's own messages that an error repeats: its last ones. */
const errorCharsMax = 4_000;

function isBuilt({ target, sources }: BuildOptions): boolean {
  const builtAtMs = statSync(target, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return sources.every((path) => newestMs(path) <= builtAtMs);
}

function newestMs(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return 0;
  if (!stats.isDirectory()) return stats.mtimeMs;
  // A folder changes when a file of it is added, renamed or deleted.
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newestMs(join(path, name))));
}
