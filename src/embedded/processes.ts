// Signals to processes, and how a child ended. Called by embedded/.

import type { ChildProcess } from "node:child_process";

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
