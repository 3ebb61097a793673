// Starts servers as child processes that end with this process, sends signals to processes, and
// describes how a child ended.

import { type ChildProcess, execFile, spawn, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { promisify } from "node:util";

/** Signals with which a guard ends a child whose parent has ended. */
export type Ending = {
  /** Signal that asks for an orderly end. */
  readonly signal: "INT" | "TERM";
  /** Signal to a child that is still running after `seconds`. */
  readonly force: "QUIT" | "KILL";
  readonly seconds: number;
};

export type GuardedOptions = Pick<SpawnOptions, "cwd" | "env" | "uid" | "gid" | "detached"> & {
  readonly ending: Ending;
  /** Standard input, output and error. */
  readonly stdio: readonly ["ignore", "ignore" | number, "pipe" | number];
};

export type ServerOptions = Pick<GuardedOptions, "cwd" | "env" | "uid" | "gid" | "ending"> & {
  /** File to which the server's output is appended. */
  readonly logPath: string;
};

/** File descriptor of the pipe between this process and a guard. */
const guardPipe = 3;

/**
 * Starts the guard, then becomes the program. The guard reads from a pipe that only this process
 * holds open: a line means that the program has ended; a close without a line means that this
 * process has ended, even by a crash. The guard then ends the program: macOS offers no such link
 * between processes, and Linux only to native code. The guard's own parent ends at once, because
 * Postgres would treat the kill of an unknown child as a crashed backend.
 *
 * A busy machine reuses a pid within a second, so the guard identifies the program by its start
 * time. A program that has ended stays a zombie if process 1 of a container does not collect it.
 */
const guardScript = `
signal=$1 force=$2 seconds=$3
shift 3
(
  {
    PATH=/usr/bin:/bin
    startOf() { cut -d ' ' -f 22 /proc/$$/stat || ps -o lstart= -p $$; }
    start=$(startOf)
    isThere() {
      kill -0 $$ && [ "$(startOf)" = "$start" ] && ! grep -q '^State:.Z' /proc/$$/status
    }
    read -r _ && exit
    isThere && kill -"$signal" $$
    while isThere; do
      [ "$seconds" -gt 0 ] || { kill -"$force" $$; exit; }
      seconds=$((seconds - 1))
      sleep 1 || exit
    done
  } <&${guardPipe} >/dev/null 2>&1 &
)
exec ${guardPipe}<&-
exec "$@"`;

/**
 * Starts a program as a child with the pid of the returned process, and a guard that ends the child
 * when this process ends, even by `kill -9` or for lack of memory.
 */
export function spawnGuarded(
  command: string,
  words: readonly string[],
  { ending, stdio, ...options }: GuardedOptions,
): ChildProcess {
  const { signal, force, seconds } = ending;
  const guardWords = ["-c", guardScript, "guard", signal, force, String(seconds)];
  const child = spawn("/bin/sh", [...guardWords, command, ...words], {
    ...options,
    stdio: [...stdio, "pipe"],
  });
  const guard = guardOf(child);
  // A killed guard breaks the pipe; without reading, the end of the pipe would not be noticed.
  guard?.on("error", () => undefined).resume();
  child.once("exit", () => guard?.end("\n"));
  return child;
}

function guardOf(child: ChildProcess): Socket | undefined {
  return child.stdio[guardPipe] as Socket | undefined;
}

/** Starts a guarded server and returns it as soon as its process exists. */
export async function spawnServer(
  command: string,
  words: readonly string[],
  { logPath, ...options }: ServerOptions,
): Promise<ChildProcess> {
  const log = await open(logPath, "a", 0o600);
  try {
    const child = spawnGuarded(command, words, {
      ...options,
      stdio: ["ignore", log.fd, log.fd],
      // A separate session: Ctrl-C must reach only us; we stop the server after draining.
      detached: true,
    });
    await once(child, "spawn");
    return child;
  } finally {
    await log.close();
  }
}

/**
 * Waits until a guarded child and its guard have ended, and describes the child's end: the signal,
 * or `exit code 1`.
 */
export async function exitOf(child: ChildProcess): Promise<string> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  const guard = guardOf(child);
  if (guard && !guard.closed) await once(guard, "close");
  return child.signalCode ?? `exit code ${child.exitCode}`;
}

/** Returns false if the process does not exist. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    // ESRCH: the process has ended.
    return false;
  }
}

/** Returns a process's command line; empty if it has ended, also for a zombie. */
export async function readCommandLine(pid: number): Promise<string> {
  if (process.platform === "linux") {
    return readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  }
  return promisify(execFile)("ps", ["-ww", "-o", "command=", "-p", String(pid)]).then(
    ({ stdout }) => stdout,
    // ps fails if the process does not exist.
    () => "",
  );
}
