// The time that a sandbox process has for one answer. What others keep it waiting for a processor
// is not the evaluator's doing, and sandboxes yield to everything else; so that is not counted.
// Called by process.ts. Source: docs/sandbox.md.

import { readFileSync } from "node:fs";

/** What the system tells of a process; undefined where it tells nothing. */
export type Use = {
  /** It runs, or would if it had a processor. */
  readonly isRunnable: boolean;
  /** Processor time of all its threads since its start, in milliseconds. */
  readonly cpuMs: number;
};

export type TimeLimitOptions = {
  readonly wallMs: number;
  readonly readUse: () => Use | undefined;
  readonly onLimit: () => void;
};

/** Looks at the process in each limit's time; most answers are there before the first. */
const looks = 10;
/** However busy the machine is, nothing takes longer than so many times the limit. */
const wallFactorMax = 6;

/** Calls back once the time is over. Returns what ends the watch. */
export function startTimeLimit({ wallMs, readUse, onLimit }: TimeLimitOptions): () => void {
  const begunAt = performance.now();
  const lookMs = wallMs / looks;
  let last: Use | undefined;
  let lookedAt = begunAt;
  let keptWaitingMs = 0;
  let timer = setTimeout(look, lookMs);

  function look(): void {
    const now = performance.now();
    const use = readUse();
    if (use?.isRunnable && last) {
      keptWaitingMs += Math.max(0, now - lookedAt - (use.cpuMs - last.cpuMs));
    }
    [last, lookedAt] = [use, now];
    const leftMs = Math.min(
      wallMs + keptWaitingMs - (now - begunAt),
      wallFactorMax * wallMs - (now - begunAt),
    );
    // Timers may be early by a part of a millisecond.
    if (leftMs < 1) onLimit();
    else timer = setTimeout(look, Math.min(lookMs, leftMs));
  }

  return () => clearTimeout(timer);
}

/** Milliseconds of the kernel's clock ticks, which are 100 a second on every Linux. */
const tickMs = 10;

/** Returns what Linux tells of a process; elsewhere nothing. */
export function readUseOf(pid: number): Use | undefined {
  try {
    // pid (name) state ppid … utime stime …: a name may hold spaces and parentheses.
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, user, system] = [fields[0], fields[11], fields[12]];
    return { isRunnable: state === "R", cpuMs: (Number(user) + Number(system)) * tickMs };
  } catch {
    return undefined;
  }
}
