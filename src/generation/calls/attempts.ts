// Tries the targets of a route until one answers: each one several times with growing pauses. A
// stream counts as answered from its first event. Source: docs/decisions.md, 21.4.

import { setTimeout as delay } from "node:timers/promises";
import { ServiceError } from "../../base/errors.ts";
import { isRetriable, mayFallBack, ProviderError, toServiceError } from "../provider-error.ts";
import type { Route, Target } from "../provider.ts";
import { ClientGone, clientGoneText, untilAborted } from "./call-signal.ts";
import type { Attempt } from "./generation-event.ts";

export type AttemptsOptions = {
  /** Maximum tries of each target. */
  readonly attemptsMax: number;
  /** Called after each attempt. */
  readonly onAttempt?: (attempt: Attempt) => void;
  /** Ends all attempts when aborted. */
  readonly signal: AbortSignal;
  readonly backoff?: Backoff;
};

export type Attempted<T> = {
  readonly value: T;
  /** Target that answered. */
  readonly target: Target;
  /** Attempts in order; the last one succeeded. */
  readonly attempts: readonly Attempt[];
};

/** Thrown when no target answered, or when the signal ended the attempts. */
export class AttemptsError extends Error {
  /** Last failure; undefined if the signal ended the attempts (the signal's reason tells why). */
  readonly error: ProviderError | undefined;
  /** Target of the last failure, or the one in progress when the signal was aborted. */
  readonly target: Target;
  readonly attempts: readonly Attempt[];

  constructor(error: ProviderError | undefined, target: Target, attempts: readonly Attempt[]) {
    super(error?.message ?? "the call was ended", { cause: error });
    this.name = "AttemptsError";
    this.error = error;
    this.target = target;
    this.attempts = attempts;
  }
}

type Call<T> = (target: Target, signal: AbortSignal) => Promise<T>;

/**
 * Calls the targets of a route in order until one answers. Each is tried up to `attemptsMax` times
 * if a retry may help. If a provider asks for a longer pause than the backoff allows, the next
 * target follows at once. `call` gets the signal of the options.
 *
 * Fails with AttemptsError. A ServiceError of `call` means that this target cannot take the
 * request: at the very first attempt it is thrown unchanged, later it only skips the target. Any
 * other error except ProviderError is a bug and is thrown unchanged.
 */
export async function runAttempts<T>(
  route: Route,
  options: AttemptsOptions,
  call: Call<T>,
): Promise<Attempted<T>> {
  const attempts: Attempt[] = [];
  let failed: { readonly error: ProviderError; readonly target: Target } | undefined;
  for (const target of route.targets) {
    const outcome = await tryTarget(target, options, attempts, call);
    if ("value" in outcome) return { value: outcome.value, target, attempts };
    if (outcome.error === undefined) continue;
    failed = { error: outcome.error, target };
    if (!mayFallBack(outcome.error)) break;
  }
  // A refusal at the very first attempt throws, so at least one attempt was recorded here.
  throw new AttemptsError(failed?.error, failed?.target ?? route.targets[0], attempts);
}

type Outcome<T> = { readonly value: T } | { readonly error: ProviderError | undefined };

/**
 * Tries one target and records each try. A refusal after a failure of the provider ends with that
 * failure; an outcome without an error is a refusal at the first try.
 */
async function tryTarget<T>(
  target: Target,
  { attemptsMax, signal, onAttempt, backoff = backoffDefault }: AttemptsOptions,
  attempts: Attempt[],
  call: Call<T>,
): Promise<Outcome<T>> {
  const { connection, model } = target;
  let failed: ProviderError | undefined;
  for (let tries = 1; ; tries += 1) {
    const startMs = performance.now();
    const note = (failure?: Pick<Attempt, "error" | "status" | "unusable">): void => {
      const durationMs = Math.round(performance.now() - startMs);
      const attempt = { provider: connection.name, model, durationMs, ...failure };
      attempts.push(attempt);
      onAttempt?.(attempt);
    };
    try {
      // The call may notice the end late, such as while it connects.
      const value = await untilAborted(signal, () => call(target, signal));
      note();
      return { value };
    } catch (error) {
      if (signal.aborted) {
        note({ error: "the call was ended" });
        throw new AttemptsError(undefined, target, attempts);
      }
      if (error instanceof ServiceError && attempts.length > 0) {
        note({ error: `${error.reason}: ${error.message}` });
        return { error: failed };
      }
      if (!(error instanceof ProviderError)) throw error;
      failed = error;
      const { reason } = toServiceError(error);
      const { status, answer } = error;
      const unusable = answer && { unusable: { target, answer } };
      note({ error: `${reason}: ${error.message}`, status, ...unusable });
    }
    const pauseMs = pauseMsAfter(tries, failed.retryAfterSeconds, backoff);
    if (tries >= attemptsMax || !isRetriable(failed) || pauseMs === undefined) {
      return { error: failed };
    }
    await delay(pauseMs, undefined, { signal }).catch(() => {
      // Only the signal ends a pause early.
      throw new AttemptsError(undefined, target, attempts);
    });
  }
}

export type Backoff = {
  /** Longest pause after the first failure; doubles with each failure. */
  readonly firstMs: number;
  /** Upper bound of the growing pause. */
  readonly pauseMsMax: number;
  /** Longest `Retry-After` that is waited for. */
  readonly retryAfterMsMax: number;
  /** Returns a number from 0 to 1. */
  readonly random?: () => number;
};

const backoffDefault: Backoff = {
  firstMs: 250,
  pauseMsMax: 8_000,
  retryAfterMsMax: 20_000,
};

/**
 * Returns the pause after `failures` failures (1 or more), or undefined if the provider asks for a
 * longer pause than the maximum. Full jitter, so that callers that failed together do not retry
 * together.
 */
export function pauseMsAfter(
  failures: number,
  retryAfterSeconds: number | undefined,
  { firstMs, pauseMsMax, retryAfterMsMax, random = Math.random }: Backoff,
): number | undefined {
  const jitterMs = random() * Math.min(pauseMsMax, firstMs * 2 ** (failures - 1));
  if (retryAfterSeconds === undefined) return jitterMs;
  const askedMs = retryAfterSeconds * 1_000;
  // The retry is never earlier than asked, and random so that callers do not all return at once.
  return askedMs > retryAfterMsMax ? undefined : askedMs + random() * firstMs;
}

export type Failure = {
  /** `error` of the event, in the form `REASON: text`. */
  readonly text: string;
  readonly thrown: unknown;
};

/** Returns the failure of a call; after an abort of the call's signal, its reason. */
export function failureOf(error: unknown, signal: AbortSignal): Failure {
  const cause = signal.aborted ? (signal.reason as unknown) : causeOf(error);
  const known = cause instanceof ProviderError ? toServiceError(cause) : cause;
  if (known instanceof ServiceError) {
    return { text: `${known.reason}: ${known.message}`, thrown: known };
  }
  const isGone = signal.aborted || cause instanceof ClientGone;
  return { text: isGone ? clientGoneText(cause) : "INTERNAL: the service failed", thrown: cause };
}

/** Returns the failure of the last attempt, if there is one. */
export function causeOf(error: unknown): unknown {
  return error instanceof AttemptsError ? (error.error ?? error) : error;
}
