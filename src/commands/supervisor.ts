// The supervisor of `waggle start`: runs the service as a child process and restarts it after a
// crash, with growing pauses. Imports almost nothing, because it stays in memory next to the
// service.

import { type ChildProcess, fork } from "node:child_process";
import { constants } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Logger } from "../base/logger.ts";
import { isReadyMessage } from "./supervised.ts";

export type SuperviseOptions = {
  /** Path of the service's program. */
  readonly script: string;
  readonly words: readonly string[];
  readonly pauses: Pauses;
};

export type Pauses = {
  /** Upper bound of the pause after the first crash; it doubles with each further one. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** Ready time after which the pauses begin again with the first one. */
  readonly forgetAfterMs: number;
  /** Maximum failed starts in a row; with the usual pauses they take two minutes. */
  readonly failuresMax: number;
};

const usualPauses: Pauses = {
  firstMs: 500,
  longestMs: 30_000,
  forgetAfterMs: 60_000,
  failuresMax: 10,
};

/** Runs `waggle start-once` with these words; returns the exit code of `waggle start`. */
export function superviseService(words: readonly string[]): Promise<number> {
  const script = fileURLToPath(new URL("../main.ts", import.meta.url));
  return supervise({ script, words: ["start-once", ...words], pauses: usualPauses });
}

/**
 * Runs a program until it ends with exit code 0, forwards SIGTERM and SIGINT to it, and returns its
 * exit code. A program that was ready once is restarted after a crash: an end by a signal or
 * another exit code. A program that was never ready is not: a wrong setting stays wrong.
 */
export async function supervise({ script, words, pauses }: SuperviseOptions): Promise<number> {
  const signals = handSignalsOn();
  let crashes = 0;
  let failures = 0;
  let logLevel: string | undefined;
  for (;;) {
    const end = await run(script, words, signals);
    logLevel = end.logLevel ?? logLevel;
    if (signals.stopping.aborted || end.code === 0) return exitCodeOf(end, signals);
    const logger = await openLog(logLevel ?? "info");
    const cause = describe(end);
    if (logLevel === undefined) {
      // A service that exits with a code has reported the reason.
      if (end.code === null) logger.fatal({ cause }, "the service was ended before it was ready");
      return exitCodeOf(end, signals);
    }
    failures = end.isReady ? 0 : failures + 1;
    if (failures >= pauses.failuresMax) {
      logger.fatal({ cause, failures }, "the service cannot be started again; giving up");
      return exitCodeOf(end, signals);
    }
    crashes = end.readyMs >= pauses.forgetAfterMs ? 1 : crashes + 1;
    const pauseMs = choosePauseMs(crashes, pauses);
    logger.error({ cause, crashes, pauseMs }, "the service crashed; starting it again");
    // An aborted pause throws; it only means that the service must not be restarted.
    await delay(pauseMs, undefined, { signal: signals.stopping }).catch(() => undefined);
    if (signals.stopping.aborted) return 0;
  }
}

/**
 * Returns a pause between half of its upper bound and all of it, so that services that crashed
 * together do not come back together. `crashes` counts from 1.
 */
export function choosePauseMs(
  crashes: number,
  { firstMs, longestMs }: Pick<Pauses, "firstMs" | "longestMs">,
  random: () => number = Math.random,
): number {
  const boundMs = Math.min(longestMs, firstMs * 2 ** (crashes - 1));
  return Math.round(boundMs * (0.5 + random() / 2));
}

type Signals = {
  /** Aborted by the first signal. */
  readonly stopping: AbortSignal;
  /** Returns the last forwarded signal. */
  readonly last: () => NodeJS.Signals | undefined;
  /** Process to which signals are forwarded. */
  receiver: ChildProcess | undefined;
};

/** Forwards each signal, because the service distinguishes a second signal from a repeated one. */
function handSignalsOn(): Signals {
  const controller = new AbortController();
  let last: NodeJS.Signals | undefined;
  const signals: Signals = { stopping: controller.signal, last: () => last, receiver: undefined };
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      last = signal;
      controller.abort();
      signals.receiver?.kill(signal);
    });
  }
  return signals;
}

type End = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Set when the process could not be started. */
  readonly error: Error | undefined;
  readonly isReady: boolean;
  /** Time from readiness to the end; 0 if the service was never ready. */
  readonly readyMs: number;
  /** Log level of the service, which is known after it was ready. */
  readonly logLevel: string | undefined;
};

/** Runs the program once with this process's Node flags, environment and standard streams. */
async function run(script: string, words: readonly string[], signals: Signals): Promise<End> {
  const child = fork(script, words);
  signals.receiver = child;
  let readyAtMs: number | undefined;
  let logLevel: string | undefined;
  child.on("message", (message) => {
    if (!isReadyMessage(message)) return;
    readyAtMs = performance.now();
    logLevel = message.logLevel;
  });
  const ended = Promise.withResolvers<Pick<End, "code" | "signal" | "error">>();
  child.once("exit", (code, signal) => {
    const resolve = () => ended.resolve({ code, signal, error: undefined });
    // The service's last messages arrive before the disconnect.
    if (child.connected) child.once("disconnect", resolve);
    else resolve();
  });
  // After any other error, such as a signal that came too late, the exit event follows.
  child.on("error", (error) => {
    if (child.pid === undefined) ended.resolve({ code: null, signal: null, error });
  });
  const end = await ended.promise;
  signals.receiver = undefined;
  const readyMs = readyAtMs === undefined ? 0 : performance.now() - readyAtMs;
  return { ...end, isReady: readyAtMs !== undefined, readyMs, logLevel };
}

/** A shell adds this to the signal's number for the exit code of a program that a signal ended. */
const signalExitCode = 128;

function exitCodeOf({ code, signal }: End, signals: Signals): number {
  if (code !== null) return code;
  // A signal before the service handles signals ends it at once; nothing was running yet.
  if (signal !== null && signal === signals.last()) return 0;
  return signal === null ? 1 : signalExitCode + constants.signals[signal];
}

function describe({ code, signal, error }: End): string {
  return error?.message ?? signal ?? `exit code ${code}`;
}

/** Imports the logger only after a crash, because most services never crash. */
async function openLog(level: string): Promise<Logger> {
  const { createLogger } = await import("../base/logger.ts");
  return createLogger(level);
}
