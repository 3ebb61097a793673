// The command line of a sandbox process: Deno's permissions, the limits of the operating system,
// the account and the environment. The reason for each flag is in docs/sandbox.md.

import type { SpawnOptions } from "node:child_process";
import type { Installation } from "./installation.ts";

export type SandboxLimits = {
  /** Milliseconds of one evaluation, as counted by time-limit.ts. */
  readonly wallMs: number;
  /** Bytes of Python's memory. */
  readonly memoryBytes: number;
  /** Bytes of an answer as JSON: value, explanation, traceback and printed text. */
  readonly outputBytes: number;
  /** Bytes of an evaluator's code in UTF-8. */
  readonly codeBytes: number;
};

export type Account = { readonly uid: number; readonly gid: number };

export type Launch = {
  readonly installation: Installation;
  /** Paths of the packages' files. */
  readonly packages: readonly string[];
  /** File with Python's memory after its start. */
  readonly snapshot: string;
  /** Undefined for the service's own account. */
  readonly account: Account | undefined;
  readonly limits: SandboxLimits;
};

/**
 * `snapshot` writes the memory after Python's start to standard output; `serve` answers messages.
 */
export type Task = "snapshot" | "serve";

export type LaunchCommand = {
  readonly command: string;
  readonly words: readonly string[];
  readonly options: Pick<SpawnOptions, "cwd" | "env" | "uid" | "gid">;
};

const KIB = 1_024;
const MIB = 1_048_576;
const wasmPageBytes = 65_536;
/** Maximum pages with 32-bit addresses: 4 GiB. */
const wasmPagesMax = 65_536;

/** Deno's own share of the data limit, measured, with room for its threads. */
const denoDataBytes = 700 * MIB;

/** Size of JavaScript's own heap in MiB; starting takes 40. */
const heapMib = 128;

/**
 * Approximate bytes of WebAssembly that a function runs before V8 optimises it; the default is 13
 * million. Most processes live for a thousand short calls, for which optimising costs more than it
 * gains: 0.5 of 1.8 s of processor time, measured. Loops still reach it within a second.
 */
const tieringBudget = 1_000_000_000;

/** Niceness of Python, of at most 19. */
const niceness = 10;

/**
 * Sets limits, starts the watch and becomes Deno. The watch waits for the end of the pipe that only
 * the service holds, and then kills: if the service is killed, no evaluator keeps running. The
 * watch is in the same process group, whose number is the process's id. If Linux divides processors
 * by session (`autogroup`), only the session's niceness counts, because each process here is a
 * session. It may be changed ten times a second on the whole machine, so the script retries in the
 * background for some seconds.
 */
const script = `set -e
ulimit -c 0
ulimit -f 0
ulimit -d "$1"
shift
if [ -w /proc/self/oom_score_adj ]; then echo 1000 > /proc/self/oom_score_adj; fi
{ read -r _ || :; kill -KILL $$; } <&3 >/dev/null 2>&1 &
exec 3<&-
if [ -w /proc/self/autogroup ]; then
  {
    tries=50
    until [ $tries = 0 ] || echo ${niceness} > /proc/self/autogroup; do
      tries=$((tries - 1))
      sleep 0.13 || break
    done
  } </dev/null >/dev/null 2>&1 &
fi
exec nice -n ${niceness} "$@"`;

/** A path in a file system where not even root can create files. */
const nowhere = "/proc/nowhere";

export function launchCommand(launch: Launch, task: Task): LaunchCommand {
  const { installation, packages, snapshot, account, limits } = launch;
  const { pyodide, guest } = installation;
  const readable = [pyodide, guest, ...packages, ...(task === "serve" ? [snapshot] : [])];
  const dataKib = Math.ceil((denoDataBytes + limits.memoryBytes) / KIB);
  const pages = Math.min(Math.ceil(limits.memoryBytes / wasmPageBytes), wasmPagesMax);
  return {
    command: "/bin/sh",
    words: [
      "-c",
      script,
      "sandbox",
      String(dataKib),
      installation.deno,
      "run",
      "--no-prompt",
      "--no-remote",
      "--no-npm",
      "--cached-only",
      "--no-config",
      "--no-lock",
      "--deny-net",
      "--deny-env",
      "--deny-run",
      "--deny-ffi",
      "--deny-write",
      "--deny-sys",
      "--deny-import",
      `--allow-read=${readable.map((path) => path.replaceAll(",", ",,")).join(",")}`,
      `--v8-flags=${[
        `--wasm-max-mem-pages=${pages}`,
        `--max-old-space-size=${heapMib}`,
        `--wasm-tiering-budget=${tieringBudget}`,
      ].join(",")}`,
      `${guest}/main.js`,
      task,
      JSON.stringify({ pyodide, guest, packages, snapshot }),
      String(limits.outputBytes),
    ],
    options: {
      cwd: "/",
      // Deno's folders for caches and settings do not exist and cannot be created.
      env: {
        PATH: "/usr/bin:/bin",
        HOME: nowhere,
        DENO_DIR: nowhere,
        DENO_NO_UPDATE_CHECK: "1",
        NO_COLOR: "1",
      },
      ...account,
    },
  };
}
