// Starting servers as children, signals to processes, and how a child ended. Called by embedded/.

import { spawn } from "node:child_process";
import type { ChildProcess, SpawnOptions } from "node:child_process";
import { open } from "node:fs/promises";

export type ServerOptions = Pick<SpawnOptions, "cwd" | "env" | "uid" | "gid"> & {
  /** What the server prints is appended here. */
  readonly logPath: string;
};

/** Starts a server and returns it as soon as it is a process. */
export async function spawnServer(
  command: string,
  words: readonly string[],
  { logPath, ...options }: ServerOptions,
): Promise<ChildProcess> {
  const log = await open(logPath, "a", 0o600);
  try {
    const child = spawn(command, words, {
      ...options,
      stdio: ["ignore", log.fd, log.fd],
      // Its own session: Ctrl-C in a terminal must reach us only, who stop it after draining.
      detached: true,
    });
    await new Promise((settle, fail) => {
      child.once("spawn", settle);
      child.once("error", fail);
    });
    return child;
  } finally {
    await log.close();
  }
}

/** Waits for a child's end and tells it in words: the signal, or `exit code 1`. */
export async function exitOf(child: ChildProcess): Promise<string> {
  if (child.exitCode === null && child.signalCode === null) {
    await new Promise((settle) => child.once("exit", settle));
  }
  return child.signalCode ?? `exit code ${child.exitCode}`;
}

export function isRunning(pid: number): boolean {
  return sendSignal(pid, 0);
}

/** Returns false when there is no such process. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    // ESRCH: it has ended.
    return false;
  }
}
