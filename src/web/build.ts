// Decides whether the web app must be built, and builds it in a child process, so that the service
// answers meanwhile.

import { fork } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(import.meta.dirname, "../..");

/** Where the built app is. */
export const distFolder = join(root, "dist/web");

/** Everything that the built app is made of. */
const sourcePaths = ["src/web/app", "src/web/vite.config.ts", "docs", "gen", "package-lock.json"];

export type Build = {
  /** Settles when the app is built; fails if it cannot be. */
  readonly done: Promise<void>;
  readonly isStopped: () => boolean;
  /** Ends the build; resolves when its process has ended. */
  stop(): Promise<void>;
};

/** Builds the app if it is not built yet or is older than its sources. */
export function startBuild(): Build {
  if (isBuilt()) {
    return { done: Promise.resolve(), isStopped: () => false, stop: () => Promise.resolve() };
  }
  const script = fileURLToPath(new URL("build-app.ts", import.meta.url));
  // The program ends by itself when the channel to this process closes.
  const child = fork(script, [], {
    ...{ stdio: ["ignore", "ignore", "pipe", "ipc"], execArgv: [] },
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
    if (code !== 0) throw new Error(`the build of the web app failed: ${errors.trim()}`);
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

function isBuilt(): boolean {
  const builtAtMs = changedAtMs(join(distFolder, "index.html"));
  return sourcePaths.every((path) => newestMs(join(root, path)) <= builtAtMs);
}

function newestMs(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return 0;
  if (!stats.isDirectory()) return stats.mtimeMs;
  // A folder changes when a file of it is added, renamed or deleted.
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newestMs(join(path, name))));
}

function changedAtMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
