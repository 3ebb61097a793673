// The time that a sandbox process has for one answer. What others keep it waiting for a processor
// is not the evaluator's doing, and sandboxes yield to everything else; so that is not counted.
// Called by process.ts. Source: docs/sandbox.md.

import { readFileSync } from "node:fs";

/** What the system tells of a process since its start, in milliseconds. */
export type Use = {
  /** That its first thread, which runs the evaluator, was ready and had no processor. */
  readonly waitedMs: number;
  /** Processor time of all its threads. */
  readonly cpuMs: number;
};

export type TimeLimitOptions = {
  readonly wallMs: number;
  /** However long it is kept waiting, it has no more than this; `wallMs` where that is to count. */
  readonly longestMs: number;
  /** Undefined where the system tells nothing; all time counts then. */
  readonly readUse: () => Use | undefined;
  readonly onLimit: () => void;
};

/** Looks at the process in each limit's time; most answers are there before the first. */
const looks = 10;

/** Calls back once the time is over. Returns what ends the watch. */
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
      // A process whose own threads keep each other waiting gains nothing.
      const idleMs = now - lookedAt - (use.cpuMs - last.cpuMs);
      waitedMs += Math.max(0, Math.min(use.waitedMs - last.waitedMs, idleMs));
    }
    [last, lookedAt] = [use, now];
    const leftMs = Math.min(wallMs + waitedMs, longestMs) - (now - begunAt);
    // Timers may be early by a part of a millisecond.
    if (leftMs < 1) onLimit();
    else timer = setTimeout(look, Math.min(lookMs, leftMs));
  }

  return () => clearTimeout(timer);
}

/** Milliseconds of the kernel's clock ticks, which are 100 a second on every Linux. */
const tickMs = 10;
const nanosecondsPerMs = 1e6;

/** Returns what Linux tells of a process; elsewhere nothing. */
export function readUseOf(pid: number): Use | undefined {
  try {
    // pid (name) state ppid … utime stime …: a name may hold spaces and parentheses.
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // Nanoseconds that it ran, that it waited, and how often it ran.
    const [, waited] = readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ");
    return {
      waitedMs: Number(waited) / nanosecondsPerMs,
      cpuMs: (Number(fields[11]) + Number(fields[12])) * tickMs,
    };
  } catch {
    return undefined;
  }
}
