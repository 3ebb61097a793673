// Runs an evaluator on one event until there is a score or a failure, and waits out temporary
// faults of a provider or the service itself. Source: docs/decisions.md, 24.2.

import { setTimeout as delay } from "node:timers/promises";
import { outcomes, type Reason, ServiceError } from "../../base/errors.ts";
import { judgeAttemptsMax } from "../../base/tenant-limits.ts";
import { findDatabaseFault } from "../../postgres/faults.ts";
import type { RunResult } from "../runner/runner.ts";

export type RunEventOptions = {
  readonly signal: AbortSignal;
  /**
   * Returns whether there is time to wait for a free place; otherwise the event is left for a later
   * step.
   */
  readonly mayWait: () => boolean;
  /** Pause before the second attempt; doubled before each further one. */
  readonly pauseMs: number;
  /** Called with unforeseen errors. */
  readonly onBug: (error: unknown) => void;
};

/** Time after which no new attempt begins. */
const attemptsMsMax = 600_000;
const pauseMsMax = 30_000;
const overloadedPauseMs = 500;
const serverErrorMin = 500;
/** Public message of a bug, whose own message may contain internals. */
const bugMessage = "the service could not run the evaluator on this event";

/**
 * Calls `open` until there is a place; returns undefined if there is none within `waitMs`. Throws
 * other errors of `open`, and the signal's reason once it is aborted.
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

/**
 * Reasons for which the provider is responsible; after five attempts they become the event's
 * failure.
 */
const ofProviders: ReadonlySet<Reason> = new Set([
  "PROVIDER_FAILED",
  "PROVIDER_LIMITED",
  "PROVIDER_TIMEOUT",
]);

/**
 * Returns the result for the event, or undefined if no place became free in time. Throws errors
 * that are not the evaluator's fault, such as SANDBOX_UNAVAILABLE and a database that is down, and
 * the signal's reason once it is aborted.
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

/**
 * Returns the failure that an error finally becomes; throws errors that do not concern the event.
 */
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

/** Returns whether retrying cannot help, such as for a judge's model without credentials. */
export function isPermanent({ reason }: ServiceError): boolean {
  return outcomes[reason].status < serverErrorMin;
}

export function toFailure({ reason, message }: ServiceError): RunResult {
  return { kind: "failure", reason, message, output: "" };
}

/** Returns whether an error means that no place is free. */
export function isOverloaded(error: unknown): boolean {
  return error instanceof ServiceError && error.reason === "OVERLOADED";
}
