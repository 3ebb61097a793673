// The time limit of a sandbox process for one answer. Waiting for a processor is not the
// evaluator's fault, and sandboxes yield to everything else, so waiting does not count.
// Source: docs/sandbox.md.

import { readFileSync } from "node:fs";

/** Use of a process since its start, in milliseconds, according to the system. */
export type Use = {
  /** Time that its first thread, which runs the evaluator, was ready without a processor. */
  readonly waitedMs: number;
  /** Processor time of all its threads. */
  readonly cpuMs: number;
};

export type TimeLimitOptions = {
  readonly wallMs: number;
  /** Maximum time including waiting; equal to `wallMs` to count waiting too. */
  readonly longestMs: number;
  /** Returns undefined if the system reports nothing; then all time counts. */
  readonly readUse: () => Use | undefined;
  readonly onLimit: () => void;
};

/** Number of looks at the process within the time limit; most answers arrive before the first. */
const looks = 10;

/** Calls `onLimit` when the time is over. Returns a function that ends the watch. */
export function startTimeLimit(options: TimeLimitOptions): () => void {
  const { wallMs, longestMs, readUse, onLimit } = options;
  const begunAt = performance.now();
  const lookMs = wallMs / looks;
  let last: Use | undefined;
  let lookedAt = begunAt;
  let waitedMs = 0;
  let timer = setTimeout(look, lookMs);

  function look(): void {
    const now = performance.now();
    const use = readUse();
    if (use && last) {
      // Limited to idle time: a process whose own threads keep each other waiting gains nothing.
      const idleMs = now - lookedAt - (use.cpuMs - last.cpuMs);
      waitedMs += Math.max(0, Math.min(use.waitedMs - last.waitedMs, idleMs));
    }
    [last, lookedAt] = [use, now];
    const leftMs = Math.min(wallMs + waitedMs, longestMs) - (now - begunAt);
    // Timers may fire a fraction of a millisecond early.
    if (leftMs < 1) onLimit();
    else timer = setTimeout(look, Math.min(lookMs, leftMs));
  }

  return () => clearTimeout(timer);
}

/** Milliseconds of the kernel's clock tick; every Linux has 100 ticks a second. */
const tickMs = 10;
const nanosecondsPerMs = 1e6;

/** Returns the use of a process on Linux; undefined elsewhere. */
export function readUseOf(pid: number): Use | undefined {
  try {
    // pid (name) state ppid … utime stime …: the name may contain spaces and parentheses.
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // Nanoseconds of running, nanoseconds of waiting, and number of runs.
    const [, waited] = readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ");
    return {
      waitedMs: Number(waited) / nanosecondsPerMs,
      cpuMs: (Number(fields[11]) + Number(fields[12])) * tickMs,
    };
  } catch {
    return undefined;
  }
}
