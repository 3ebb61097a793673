// Starts servers as child processes that end with this process, sends signals to processes, and
// tells how a child ended.

import { execFile, spawn } from "node:child_process";
import type { ChildProcess, SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { promisify } from "node:util";

/** How a guard ends a child whose parent has ended. */
export type Ending = {
  /** Signal that asks for an orderly end. */
  readonly signal: "INT" | "TERM";
  /** Signal to a child that has not ended after `seconds`. */
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
 * Starts the guard and becomes the program. The guard waits at a pipe that this process alone holds
 * open: a line says that the program has ended; a pipe that closes without one, that this process
 * has ended, however it did. The guard then ends the program: the operating system offers no such
 * tie on macOS, and on Linux only to native code. The guard's own parent ends at once, because
 * Postgres takes a child of its own that is killed for a crashed backend.
 *
 * A busy machine gives a pid to another process within a second, so the guard knows the program by
 * the time of its start. A program that has ended stays a zombie where process 1 of a container
 * does not collect it.
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
 * when this process ends, `kill -9` and running out of memory included.
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
  // A guard that was killed leaves a broken pipe; without reading, its end would not be noticed.
  guard?.on("error", () => undefined).resume();
  child.once("exit", () => guard?.end("\n"));
  return child;
}

function guardOf(child: ChildProcess): Socket | undefined {
  return child.stdio[guardPipe] as Socket | undefined;
}

/** Starts a guarded server and returns it as soon as it is a process. */
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
      // Its own session: Ctrl-C in a terminal must reach us only, who stop it after draining.
      detached: true,
    });
    await once(child, "spawn");
    return child;
  } finally {
    await log.close();
  }
}

/**
 * Waits until a guarded child and its guard have ended, and returns the child's end in words: the
 * signal, or `exit code 1`.
 */
export async function exitOf(child: ChildProcess): Promise<string> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  const guard = guardOf(child);
  if (guard && !guard.closed) await once(guard, "close");
  return child.signalCode ?? `exit code ${child.exitCode}`;
}

/** Returns false when there is no such process. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    // ESRCH: it has ended.
    return false;
  }
}

/** Returns a process's command line; empty for a process that has ended, a zombie included. */
export async function readCommandLine(pid: number): Promise<string> {
  if (process.platform === "linux") {
    return readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  }
  return promisify(execFile)("ps", ["-ww", "-o", "command=", "-p", String(pid)]).then(
    ({ stdout }) => stdout,
    // ps fails when there is no such process.
    () => "",
  );
}
