// Runs an evaluator on one event until there is a score or a failure: what a provider or the
// service itself does wrong for a while is waited for. Called by run-events.ts.
// Source: docs/decisions.md, 24.

import { setTimeout as delay } from "node:timers/promises";
import { outcomes, ServiceError } from "../../base/errors.ts";
import type { Reason } from "../../base/errors.ts";
import { judgeAttemptsMax } from "../../base/tenant-limits.ts";
import { findDatabaseFault } from "../../postgres/faults.ts";
import type { RunResult } from "../runner/runner.ts";

export type RunEventOptions = {
  readonly signal: AbortSignal;
  /** Whether there is time to wait for a free place; else the event is left for a later step. */
  readonly mayWait: () => boolean;
  /** Before the second attempt; doubled before each further one. */
  readonly pauseMs: number;
  /** Told of errors that nobody has foreseen. */
  readonly onBug: (error: unknown) => void;
};

/** No new attempt after it, should each take very long. */
const attemptsMsMax = 600_000;
const pauseMsMax = 30_000;
const overloadedPauseMs = 500;
const serverErrorMin = 500;
/** Nobody may see what a bug says. */
const bugMessage = "the service could not run the evaluator on this event";

/**
 * Opens a runner once there is a place for it; undefined when there is none for so long. Fails as
 * `open` does otherwise, and with the signal's reason once that is aborted.
 */
export async function openPatiently<T>(
  open: () => Promise<T>,
  { signal, waitMs }: { readonly signal: AbortSignal; readonly waitMs: number },
): Promise<T | undefined> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      signal.throwIfAborted();
      if (!isOverloaded(error)) throw error;
      if (Date.now() >= deadline) return undefined;
      await delay(overloadedPauseMs, undefined, { signal });
    }
  }
}

/** A provider's doing: after five attempts it is the event's failure. */
const ofProviders: ReadonlySet<Reason> = new Set([
  "PROVIDER_FAILED",
  "PROVIDER_LIMITED",
  "PROVIDER_TIMEOUT",
]);

/**
 * Returns what came of the event, or undefined when it has to wait for a place longer than there is
 * time. Fails with what says nothing about the evaluator, such as SANDBOX_UNAVAILABLE and a
 * database that is away, and with the signal's reason once that is aborted.
 */
export async function runEvent(
  run: () => Promise<RunResult>,
  options: RunEventOptions,
): Promise<RunResult | undefined> {
  const { signal, mayWait, pauseMs } = options;
  const startedAt = Date.now();
  for (let attempt = 1; ;) {
    try {
      return await run();
    } catch (error) {
      signal.throwIfAborted();
      if (isOverloaded(error)) {
        if (!mayWait()) return undefined;
        await delay(overloadedPauseMs, undefined, { signal });
        continue;
      }
      const failure = judgeFault(error, options);
      const isLast = attempt >= judgeAttemptsMax || Date.now() - startedAt > attemptsMsMax;
      if (failure.isForGood || isLast) return failure.result;
      const askedMs = error instanceof ServiceError ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
      const pause = Math.min(Math.max(pauseMs * 2 ** (attempt - 1), askedMs), pauseMsMax);
      attempt += 1;
      await delay(pause, undefined, { signal });
    }
  }
}

/** Returns the failure that an error comes to in the end; throws what says nothing of the event. */
function judgeFault(
  error: unknown,
  { onBug }: Pick<RunEventOptions, "onBug">,
): { readonly result: RunResult; readonly isForGood: boolean } {
  if (error instanceof ServiceError) {
    const isForGood = isPermanent(error);
    if (!isForGood && !ofProviders.has(error.reason)) throw error;
    return { result: toFailure(error), isForGood };
  }
  if (findDatabaseFault(error) !== undefined) throw error;
  onBug(error);
  const result = { kind: "failure", reason: "INTERNAL", message: bugMessage, output: "" } as const;
  return { result, isForGood: false };
}

/** Tells whether trying again cannot help, such as where a judge's model has no credentials. */
export function isPermanent({ reason }: ServiceError): boolean {
  return outcomes[reason].status < serverErrorMin;
}

export function toFailure({ reason, message }: ServiceError): RunResult {
  return { kind: "failure", reason, message, output: "" };
}

/** Tells whether an error says that there is no place now. */
export function isOverloaded(error: unknown): boolean {
  return error instanceof ServiceError && error.reason === "OVERLOADED";
}
